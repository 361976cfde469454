//! The current rules of each app, and the files that they are read from.
use std::{path::Path, sync::Arc, time::Duration};

use foldhash::HashMap;
use parking_lot::Mutex;
use portico_access_policy::{
    AppPolicy, GroupSource, Policy, RuleSet, RulesError, Severity,
    file::{self, FileHash},
};
use portico_proxy::stream::connections::{Connection, Connections};

use crate::{
    config::{AppConfig, ProviderConfig},
    hosts::App,
    metrics,
};

/// A file whose last change is at least this old is complete.
const SETTLE_TIME: Duration = Duration::from_secs(1);

/// The rules of every app.
#[derive(Debug)]
pub(crate) struct Rules {
    apps: HashMap<String, OfApp>,
    providers: Vec<GroupSource>,
    none: Arc<RuleSet>,
}

#[derive(Debug)]
struct OfApp {
    config: AppPolicy,
    current: Mutex<Arc<RuleSet>>,
    /// The content hash of the file when it was last read, valid or not; `None` without a file.
    seen: Mutex<Option<FileHash>>,
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
        let providers: Vec<GroupSource> = providers
            .iter()
            .filter_map(ProviderConfig::group_source)
            .collect();
        let mut all = HashMap::default();
        for app in apps.iter().map(AppConfig::policy) {
            let policy = Policy::load(&app, &providers)?;
            announce(&policy);
            if app.rules_file.is_some() {
                metrics::rules::begin(&app.id);
            }
            let (rules, hash) = policy.into_rules();
            let of_app = OfApp {
                current: Mutex::new(Arc::new(rules)),
                seen: Mutex::new(hash),
                connections: Connections::default(),
                config: app,
            };
            all.insert(of_app.config.id.clone(), of_app);
        }
        Ok(Self {
            apps: all,
            providers,
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
            metrics::rules::looked(&of_app.config.id, &outcome);
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
        let hash = file::hash(&bytes);
        if of_app.seen.lock().is_some_and(|seen| seen == hash) {
            return Ok(false);
        }
        let policy = Policy::parse(app, &self.providers, Some((path, bytes)))?.tested()?;
        announce(&policy);
        let (rules, hash) = policy.into_rules();
        *of_app.current.lock() = Arc::new(rules);
        *of_app.seen.lock() = hash;
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
        tracing::info!(upstream = app, rule, "{words}");
    }
    for finding in policy.lint() {
        if finding.severity == Severity::Warning {
            tracing::warn!(upstream = app, rule = finding.rule, "{}", finding.message);
        }
    }
}
