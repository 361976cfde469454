//! The rules that count now, for each app, and the files that they are read again from.
use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use super::{
    error::RulesError,
    file::{self, Print},
    lint::Severity,
    meters,
    policy::Policy,
    set::RuleSet,
};
use crate::{
    config::{AppConfig, ProviderConfig},
    hosts::App,
    proxy::connections::{Connection, Connections},
    session::lock::Lock,
};

/// A file that was not changed for so long is complete.
const SETTLED: Duration = Duration::from_secs(1);

/// Every app's rules.
#[derive(Debug)]
pub(crate) struct Rules {
    apps: HashMap<String, OfApp>,
    providers: Vec<ProviderConfig>,
    none: Arc<RuleSet>,
}

#[derive(Debug)]
struct OfApp {
    config: AppConfig,
    current: Lock<Arc<RuleSet>>,
    /// What the file was when it was looked at last, good or bad; none without a file.
    seen: Lock<Option<Print>>,
    /// What people open who are not signed in.
    connections: Connections,
}

/// What became of a file of rules that was looked at again.
#[derive(Debug)]
pub struct Reloaded {
    pub app: String,
    /// Whether other rules count now.
    pub outcome: Result<bool, RulesError>,
}

impl Rules {
    /// Reads every app's rules, and says what they are.
    pub fn load(apps: &[AppConfig], providers: &[ProviderConfig]) -> Result<Self, RulesError> {
        let mut all = HashMap::with_capacity(apps.len());
        for app in apps {
            let policy = Policy::load(app, providers)?;
            announce(&policy);
            if app.rules_file.is_some() {
                meters::begin(&app.id);
            }
            let of_app = OfApp {
                config: app.clone(),
                current: Lock::new(Arc::new(policy.rules)),
                seen: Lock::new(policy.print),
                connections: Connections::default(),
            };
            all.insert(app.id.clone(), of_app);
        }
        Ok(Self {
            apps: all,
            providers: providers.to_vec(),
            none: Arc::new(RuleSet::nothing()),
        })
    }

    /// The rules of an app as they are now.
    pub fn of(&self, app: &App) -> Arc<RuleSet> {
        match self.apps.get(&app.config.id) {
            Some(of_app) => Arc::clone(&of_app.current.lock()),
            // every app has some; one without would be closed
            None => Arc::clone(&self.none),
        }
    }

    /// Something that nobody in particular opens; it ends when other rules come to count.
    pub fn open(&self, app: &App) -> Connection {
        match self.apps.get(&app.config.id) {
            Some(of_app) => of_app.connections.open(),
            None => Connections::default().open(),
        }
    }

    /// Looks at each file again. What cannot be used changes nothing.
    pub fn reload(&self) -> Vec<Reloaded> {
        let with_file = self
            .apps
            .values()
            .filter(|app| app.config.rules_file.is_some());
        let looked = with_file.map(|of_app| {
            let outcome = self.reload_one(of_app);
            meters::looked(&of_app.config.id, &outcome);
            Reloaded {
                app: of_app.config.id.clone(),
                outcome,
            }
        });
        looked.collect()
    }

    fn reload_one(&self, of_app: &OfApp) -> Result<bool, RulesError> {
        let app = &of_app.config;
        let Some(path) = &app.rules_file else {
            return Ok(false);
        };
        if is_being_written(path) {
            return Ok(false);
        }
        let bytes = file::read(app, path)?;
        let print = file::print(&bytes);
        if of_app.seen.lock().is_some_and(|seen| seen == print) {
            return Ok(false);
        }
        let policy = Policy::of(app, &self.providers, Some((path, bytes)))?.tested()?;
        announce(&policy);
        *of_app.current.lock() = Arc::new(policy.rules);
        *of_app.seen.lock() = Some(print);
        of_app.connections.renew();
        Ok(true)
    }
}

/// Whether a file was changed just now: half of it may look like all of it.
fn is_being_written(path: &Path) -> bool {
    let changed = std::fs::metadata(path).and_then(|file| file.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|ago| ago < SETTLED))
}

/// One line for each rule, so that nobody has to guess what it is about.
fn announce(policy: &Policy) {
    let app = policy.app();
    for (rule, words) in policy.in_words() {
        tracing::info!(app, rule, "{words}");
    }
    for finding in policy.lint() {
        if finding.severity == Severity::Warning {
            tracing::warn!(app, rule = finding.rule, "{}", finding.message);
        }
    }
}
