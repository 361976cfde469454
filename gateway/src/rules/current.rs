//! The current rules of each app, and the files that they are read from.
use std::{collections::HashMap, path::Path, sync::Arc, time::Duration};

use super::{
    error::RulesError,
    file::{self, Print},
    lint::Severity,
    metrics,
    policy::Policy,
    set::RuleSet,
};
use crate::{
    config::{AppConfig, ProviderConfig},
    hosts::App,
    proxy::connections::{Connection, Connections},
    session::lock::Lock,
};

/// A file whose last change is at least this old is complete.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// The rules of every app.
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
    /// The content hash of the file when it was last read, valid or not; `None` without a file.
    seen: Lock<Option<Print>>,
    /// The open connections of clients that are not signed in.
    connections: Connections,
}

/// The result of reading a rules file again.
#[derive(Debug)]
pub struct Reloaded {
    pub app: String,
    /// Whether the rules have changed.
    pub outcome: Result<bool, RulesError>,
}

impl Rules {
    /// Reads every app's rules, and logs them.
    pub fn load(apps: &[AppConfig], providers: &[ProviderConfig]) -> Result<Self, RulesError> {
        let mut all = HashMap::with_capacity(apps.len());
        for app in apps {
            let policy = Policy::load(app, providers)?;
            announce(&policy);
            if app.rules_file.is_some() {
                metrics::begin(&app.id);
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

    /// Returns the current rules of an app.
    pub fn of(&self, app: &App) -> Arc<RuleSet> {
        match self.apps.get(&app.config.id) {
            Some(of_app) => Arc::clone(&of_app.current.lock()),
            // every app has rules; one without would be closed
            None => Arc::clone(&self.none),
        }
    }

    /// Registers a connection without a user; it ends when the rules change.
    pub fn open(&self, app: &App) -> Connection {
        match self.apps.get(&app.config.id) {
            Some(of_app) => of_app.connections.open(),
            None => Connections::default().open(),
        }
    }

    /// Reads each file again. Invalid files change nothing.
    pub fn reload(&self) -> Vec<Reloaded> {
        let with_file = self
            .apps
            .values()
            .filter(|app| app.config.rules_file.is_some());
        let looked = with_file.map(|of_app| {
            let outcome = self.reload_one(of_app);
            metrics::looked(&of_app.config.id, &outcome);
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

/// Returns whether a file was changed just now, so that it may be incomplete.
fn is_being_written(path: &Path) -> bool {
    let changed = std::fs::metadata(path).and_then(|file| file.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|ago| ago < SETTLE_TIME))
}

/// Logs one line for each rule with its meaning.
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
