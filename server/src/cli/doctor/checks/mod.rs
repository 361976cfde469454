//! The checks of `portico doctor`, each with its time limit.
mod app_rules;
mod certificates;
mod cluster_list;
mod clusters;
mod configuration;
mod keys;
mod keystone;
mod listeners;
mod machine;
mod panel_site;
mod providers;
mod public_address;
mod reviews;
mod store;

use super::context::Context;
use super::fault::Fault;
use super::finding::Finding;
use crate::cli::arguments::DoctorArgs;
use crate::config::Role;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::time::Duration;

/// Longer than any check whose requests all reach their own timeouts.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);
/// Measuring how long a revoked token works takes minutes.
const MEASURE_TIMEOUT: Duration = Duration::from_secs(300);

/// A check that has not run yet.
pub(super) struct Check<'c> {
    subject: String,
    timeout: Duration,
    findings: BoxFuture<'c, Vec<Finding>>,
}

impl<'c> Check<'c> {
    fn new(
        subject: impl Into<String>,
        findings: impl Future<Output = Vec<Finding>> + Send + 'c,
    ) -> Self {
        Self {
            subject: subject.into(),
            timeout: CHECK_TIMEOUT,
            findings: findings.boxed(),
        }
    }

    /// Runs the check; an overdue check is a finding.
    pub async fn run(self) -> Vec<Finding> {
        match tokio::time::timeout(self.timeout, self.findings).await {
            Ok(findings) => findings,
            Err(_) => {
                let seen = format!("{} s", self.timeout.as_secs());
                vec![Finding::fault(Fault::CheckTimedOut, self.subject, seen)]
            }
        }
    }
}

/// Returns every check of the roles, in the order of the report.
pub(super) fn all<'c>(context: &'c Context, arguments: &'c DoctorArgs) -> Vec<Check<'c>> {
    let mut all = vec![
        Check::new(
            "configuration",
            async move { configuration::check(context) },
        ),
        Check::new("keys", async move { keys::check(context) }),
        Check::new("cluster list", async move { cluster_list::check(context) }),
        Check::new("certificates", async move { certificates::check(context) }),
        Check::new("panel site", async move { panel_site::check(context) }),
        Check::new("rules", async move { app_rules::check(context) }),
        Check::new("machine", async move { machine::check(context) }),
    ];
    if let Some(section) = context.store() {
        all.push(Check::new("store", store::check(section)));
    }
    if let Some(section) = context.keystone() {
        for url in section.urls() {
            let checked = keystone::endpoint(section, url, &context.clock);
            all.push(Check::new("Keystone", checked));
        }
        if context.has(Role::KubeAuth) && section.service_account.is_some() {
            all.push(Check::new(
                "service account",
                keystone::service_account(section, &context.clock),
            ));
        }
    }
    if let Some(section) = context.gateway() {
        for provider in &section.providers {
            all.push(Check::new(
                format!("provider {}", provider.id),
                providers::check(provider),
            ));
        }
    }
    for cluster in &context.config.clusters {
        all.push(Check::new(
            clusters::subject(cluster),
            clusters::check(cluster),
        ));
    }
    for (key, address) in context.config.addresses(&context.roles) {
        all.push(Check::new(key, listeners::check(context, key, address)));
    }
    all.push(Check::new("public_url", public_address::check(context)));
    if context.has(Role::KubeAuth) || context.has(Role::Panel) {
        all.push(Check::new(
            "kube-auth",
            reviews::asked(&context.config, &context.clock),
        ));
    }
    if let Some(cluster) = &arguments.revocation {
        let mut check = Check::new(
            format!("revocation at {cluster}"),
            reviews::measure(&context.config, cluster, &context.clock),
        );
        check.timeout = MEASURE_TIMEOUT;
        all.push(check);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn doctor_names_a_check_that_does_not_end() {
        let mut check = Check::new("store", std::future::pending());
        check.timeout = Duration::from_millis(10);
        let findings = check.run().await;
        assert_eq!(findings[0].fault, Some(Fault::CheckTimedOut));
        assert_eq!(findings[0].subject, "store");
    }
}
