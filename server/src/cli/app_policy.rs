//! `portico policy lint|explain|test`: checks the access rules of the gateway's apps, from the
//! configuration alone.
use super::arguments::{AppExplainArgs, AppPolicyCommand};
use super::error::CliError;
use super::policy::code;
use super::print;
use crate::config::Config;
use anyhow::Context as _;
use gateway::config::{AppConfig, GatewayConfig, ProviderConfig};
use http::Method;
use portico_access_policy::{GroupSource, Policy, PolicyQuery, Severity, Subject};
use portico_domain::access::{GroupOfProvider, RoleInProject};
use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) fn policy(command: &AppPolicyCommand, named: &[PathBuf]) -> Result<ExitCode, CliError> {
    let config = Config::load(named)?;
    match command {
        AppPolicyCommand::Lint { app, strict } => lint(&config, app.as_deref(), *strict),
        AppPolicyCommand::Explain(arguments) => explain(&config, arguments),
        AppPolicyCommand::Test { app } => test(&config, app.as_deref()),
    }
}

fn section(config: &Config) -> anyhow::Result<&GatewayConfig> {
    config
        .gateway
        .as_ref()
        .context("[gateway] is missing: rules are about the gateway's apps")
}

/// Reads the rules of an app, without running their tests.
fn read(config: &Config, app: &AppConfig) -> anyhow::Result<Policy> {
    let providers = config.gateway.iter().flat_map(|section| &section.providers);
    let providers: Vec<GroupSource> = providers.filter_map(ProviderConfig::group_source).collect();
    Ok(Policy::read(&app.policy(), &providers)?)
}

/// Returns the app with this ID, or all apps.
fn chosen<'c>(config: &'c Config, app: Option<&str>) -> anyhow::Result<Vec<&'c AppConfig>> {
    let all = config.apps.iter();
    let chosen: Vec<&AppConfig> = match app {
        None => all.collect(),
        Some(id) => all.filter(|app| app.id == id).collect(),
    };
    match app {
        Some(id) if chosen.is_empty() => {
            let known: Vec<&str> = config.apps.iter().map(|app| app.id.as_str()).collect();
            anyhow::bail!("there is no app {id}; known: {}", known.join(", "))
        }
        _ => Ok(chosen),
    }
}

fn lint(config: &Config, app: Option<&str>, strict: bool) -> Result<ExitCode, CliError> {
    let (mut text, mut rules, mut warnings) = (String::new(), 0, 0);
    for app in chosen(config, app)? {
        let policy = read(config, app)?;
        rules += policy.len();
        for one in policy.lint() {
            warnings += usize::from(one.severity == Severity::Warning);
            let _ = writeln!(text, "{}: {one}", app.id);
        }
    }
    let _ = writeln!(text, "{rules} rules, {warnings} warnings");
    print(&text)?;
    Ok(code(strict && warnings > 0))
}

fn test(config: &Config, app: Option<&str>) -> Result<ExitCode, CliError> {
    let (mut text, mut tests, mut failed) = (String::new(), 0, 0);
    for app in chosen(config, app)? {
        let policy = read(config, app)?;
        tests += policy.tests();
        for (index, why) in policy.failures() {
            failed += 1;
            let file = app.rules_file.as_deref().unwrap_or_else(|| "".as_ref());
            let line = policy.line_of_test(index).unwrap_or_default();
            let _ = writeln!(text, "failed: {}:{line}: {why}", file.display());
        }
    }
    let _ = writeln!(text, "{tests} tests, {failed} failed");
    print(&text)?;
    Ok(code(failed > 0))
}

fn explain(config: &Config, arguments: &AppExplainArgs) -> Result<ExitCode, CliError> {
    let section = section(config)?;
    let (host, path) = split(&arguments.url).with_context(|| {
        format!(
            "--url {}: write it whole, such as https://prometheus.{}/graph",
            arguments.url, section.apps_domain
        )
    })?;
    let app = config
        .apps
        .iter()
        .find(|app| Place::of(app, section).host == host && app.has_path(&path))
        .with_context(|| {
            let known: Vec<String> = config
                .apps
                .iter()
                .map(|app| Place::of(app, section).to_string())
                .collect();
            format!("no app is at {host}{path}; known: {}", known.join(", "))
        })?;
    let policy = read(config, app)?;
    let method = Method::from_bytes(arguments.method.as_bytes())
        .with_context(|| format!("--method {}", arguments.method))?;
    let query = PolicyQuery {
        method,
        path,
        client: arguments.address,
        person: subject(&policy, arguments),
    };
    let explained = policy.explain(&query);
    let mut text = String::new();
    for (name, words, step) in &explained.steps {
        let _ = writeln!(text, "rule {name:?} ({words}) {step}");
    }
    if policy.is_empty() {
        let _ = writeln!(
            text,
            "{} has no rules of its own: apps.allow decides",
            app.id
        );
    }
    let outcome = &explained.outcome;
    let _ = writeln!(text, "{} {}: {outcome}", query.method, arguments.url);
    print(&text)?;
    Ok(code(!outcome.is_open()))
}

/// The address of an app: a host of its own, or a path on the main host.
struct Place {
    host: String,
    path: Option<String>,
}

impl Place {
    fn of(app: &AppConfig, section: &GatewayConfig) -> Self {
        let own = app.origin(&section.public_url, &section.apps_domain);
        let site = match app.path {
            None => &own,
            Some(_) => &section.public_url,
        };
        let host = site.host_str().unwrap_or_default().to_ascii_lowercase();
        let path = app.path.clone();
        Self { host, path }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{}",
            self.host,
            self.path.as_deref().unwrap_or_default()
        )
    }
}

/// Returns the user of a request to explain; a user is signed in if any of the options about them
/// is given.
fn subject(policy: &Policy, arguments: &AppExplainArgs) -> Option<Subject> {
    let is_signed_in = arguments.user.is_some()
        || !arguments.roles.is_empty()
        || !arguments.groups.is_empty()
        || !arguments.factors.is_empty();
    if !is_signed_in {
        return None;
    }
    let user = arguments.user.as_deref().unwrap_or_default();
    let (name, domain) = user.rsplit_once('@').unwrap_or((user, ""));
    let roles = arguments.roles.iter().map(|(role, project)| RoleInProject {
        role: role.clone(),
        project: policy.project(project),
    });
    let groups = arguments
        .groups
        .iter()
        .map(|(provider, group)| GroupOfProvider {
            group: group.clone(),
            provider: provider.clone(),
        });
    Some(Subject {
        roles: roles.collect(),
        groups: groups.collect(),
        signed_in_ago: Some(arguments.signed_in_ago),
        factors: arguments.factors.clone(),
        ..Subject::named(user, name, domain)
    })
}

/// Splits a URL into host and raw path: a URL parser would resolve what the gateway refuses.
fn split(url: &str) -> anyhow::Result<(String, String)> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
        .context("it does not begin with https:// or http://")?;
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let host = authority
        .rsplit_once(':')
        .map_or(authority, |(host, port)| {
            if port.bytes().all(|byte| byte.is_ascii_digit()) {
                host
            } else {
                authority
            }
        });
    let path = path.split('?').next().unwrap_or_default();
    let path = if path.is_empty() { "/" } else { path };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    Ok((host, path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_and_not_tidied_up() {
        let parts = |url: &str| split(url).unwrap();
        let both = |host: &str, path: &str| (host.to_owned(), path.to_owned());
        assert_eq!(
            parts("https://A.Apps.example.org:8443/x/../y?z=/w"),
            both("a.apps.example.org", "/x/../y")
        );
        assert_eq!(
            parts("http://a.apps.localhost."),
            both("a.apps.localhost", "/")
        );
        assert_eq!(parts("http://a?x"), both("a", "/"));
        assert!(split("a.apps.localhost/x").is_err());
    }
}
