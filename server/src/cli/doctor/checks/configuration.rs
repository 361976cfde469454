//! Checks the configuration itself, for the roles that are checked.
use crate::cli::doctor::context::Context;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use crate::config::Role;
use portico_runtime::config::{ConfigError, Problem};
use secrecy::ExposeSecret as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use url::Url;

const SUBJECT: &str = "configuration";

pub(super) fn check(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    match context.config.validate(&context.roles) {
        Ok(()) => {}
        Err(ConfigError::Invalid(problems)) => {
            let concerning = |problem: &&Problem| concerns(&problem.to_string(), &context.roles);
            findings.extend(problems.iter().filter(concerning).map(invalid));
        }
        Err(error) => findings.push(invalid(&error)),
    }
    if context.roles.is_empty() {
        findings.push(Finding::fault(Fault::ConfigurationEmpty, SUBJECT, ""));
    } else if findings.is_empty() {
        let names: Vec<String> = context.roles.iter().map(ToString::to_string).collect();
        findings.push(Finding::ok(
            SUBJECT,
            format!("good for: {}", names.join(", ")),
        ));
    }
    if has_password(context) {
        for file in context.files.iter().filter(|file| is_readable_by_all(file)) {
            findings.push(Finding::fault(
                Fault::ConfigurationReadable,
                SUBJECT,
                file.display().to_string(),
            ));
        }
    }
    findings
}

fn invalid(problem: &impl ToString) -> Finding {
    Finding::fault(Fault::ConfigurationInvalid, SUBJECT, problem.to_string())
}

/// Returns whether a problem is in a section that one of the roles reads. Its text begins with the
/// key.
fn concerns(problem: &str, roles: &[Role]) -> bool {
    let section: String = problem
        .chars()
        .take_while(|letter| letter.is_ascii_lowercase() || *letter == '_')
        .collect();
    let readers: &[Role] = match section.as_str() {
        "gateway" | "store" => &[Role::Gateway],
        "apps" => &[Role::Gateway, Role::Panel],
        "panel" => &[Role::Panel],
        "kube_auth" => &[Role::KubeAuth],
        _ => return true,
    };
    roles.iter().any(|role| readers.contains(role))
}

fn has_password(context: &Context) -> bool {
    let url = context.config.store.as_ref();
    url.and_then(|section| Url::parse(section.url.expose_secret()).ok())
        .is_some_and(|url| url.password().is_some_and(|password| !password.is_empty()))
}

fn is_readable_by_all(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o004 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doctor_leaves_out_what_another_role_reads() {
        let gateway = "gateway.public_url must be http(s)://host[:port] without a path, not x";
        assert!(concerns(gateway, &[Role::Gateway]));
        assert!(!concerns(gateway, &[Role::KubeAuth, Role::Panel]));
        assert!(concerns("clusters.1.id: appears twice", &[Role::KubeAuth]));
        assert!(concerns("apps.id \"A\" must be", &[Role::Panel]));
        assert!(!concerns("kube_auth.key_files must", &[Role::Gateway]));
    }
}
