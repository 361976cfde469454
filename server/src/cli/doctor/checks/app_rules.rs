//! Checks the apps' access rules and runs their own tests.
use crate::cli::doctor::context::Context;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use gateway::ProviderConfig;
use portico_access_policy::{GroupSource, Policy, Severity};

pub(super) fn check(context: &Context) -> Vec<Finding> {
    let Some(section) = context.gateway() else {
        return Vec::new();
    };
    let providers = section.providers.iter();
    let providers: Vec<GroupSource> = providers.filter_map(ProviderConfig::group_source).collect();
    let mut findings = Vec::new();
    for app in &context.config.apps {
        if app.rules.is_empty() && app.rules_file.is_none() {
            continue;
        }
        let subject = format!("rules of {}", app.id);
        match Policy::load(&app.policy(), &providers) {
            Ok(policy) => {
                let (rules, tests) = (policy.len(), policy.tests());
                let seen = format!("{rules} rules, {tests} tests passed");
                findings.push(Finding::ok(&subject, seen));
                let lint = policy.lint();
                let warnings = lint.iter().filter(|one| one.severity == Severity::Warning);
                findings.extend(
                    warnings
                        .map(|one| Finding::fault(Fault::RulesWarning, &subject, one.to_string())),
                );
            }
            Err(error) => {
                let seen = error.to_string();
                findings.push(Finding::fault(Fault::RulesInvalid, subject, seen));
            }
        }
    }
    findings
}
