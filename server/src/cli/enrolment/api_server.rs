//! What is left to do in an imported cluster, as text for an operator.
use crate::cli::{line, read_text};
use crate::config::enrolment::EnrolmentConfig;
use crate::service::lifecycle::api_server::{self, Wanted};
use anyhow::Context as _;
use portico_domain::enrolled_cluster::EnrolledCluster;
use portico_domain::panel::lifecycle::ApiServerConfiguration;
use portico_kube_auth::authority::only_certificates;
use portico_lifecycle::driver::Family;

const MAX_FILE_BYTES: u64 = 64 * 1024;

/// kube-auth, as API servers reach it.
pub(super) struct Webhook {
    url: String,
    ca_pem: Vec<u8>,
}

impl Webhook {
    /// Reads `[enrolment.webhook]`, if there is such a section.
    pub fn read(section: &EnrolmentConfig) -> anyhow::Result<Option<Self>> {
        let Some(webhook) = &section.webhook else {
            return Ok(None);
        };
        let read = || -> anyhow::Result<Vec<u8>> {
            let text = read_text(&webhook.ca_file, MAX_FILE_BYTES)?;
            Ok(only_certificates(text.as_bytes())?)
        };
        Ok(Some(Self {
            url: webhook.url.to_string(),
            ca_pem: read().context("enrolment.webhook.ca_file")?,
        }))
    }
}

/// Returns what an operator reads after an import.
pub(super) fn after_import(
    record: &EnrolledCluster,
    section: &EnrolmentConfig,
    webhook: Option<&Webhook>,
) -> String {
    let mut text = String::new();
    line(
        &mut text,
        format_args!(
            "{} is imported for project {}, with the ID {}.",
            record.name, record.owner_project, record.id
        ),
    );
    line(&mut text, format_args!("{}", accepted(record)));
    line(
        &mut text,
        format_args!(
            "The gateway, the panel, and kube-auth with [kube_auth.cluster_list] serve it within seconds."
        ),
    );
    text.push('\n');
    match webhook {
        Some(webhook) => text.push_str(&configuration(record, webhook)),
        None => line(
            &mut text,
            format_args!(
                "The configuration of its API server cannot be printed: add [enrolment.webhook], and run \
                 the command again with --id {}.",
                record.id
            ),
        ),
    }
    text.push_str(&roles(record, section));
    text
}

/// Returns the sentence about who may use the cluster.
fn accepted(record: &EnrolledCluster) -> String {
    let projects = record.accepted_projects.join(", ");
    match record.accepted_roles.as_slice() {
        [] => format!("Accepted: users of {projects}, with any role."),
        roles => format!(
            "Accepted: users of {projects}, with one of the roles {}.",
            roles.join(", ")
        ),
    }
}

fn configuration(record: &EnrolledCluster, webhook: &Webhook) -> String {
    let page = api_server::of(&Wanted {
        id: record.id,
        name: &record.name,
        family: Family::Unknown,
        source: record.source,
        url: &webhook.url,
        ca_pem: &webhook.ca_pem,
        is_enrolled: true,
        is_configured: None,
    });
    as_text(&page)
}

/// Returns a page as text: the lines to copy stand alone, below a comment.
fn as_text(page: &ApiServerConfiguration) -> String {
    let mut text = String::new();
    for sentence in &page.introduction {
        line(&mut text, format_args!("{sentence}"));
    }
    for block in &page.blocks {
        text.push('\n');
        line(&mut text, format_args!("# {}. {}", block.title, block.text));
        if let Some(path) = &block.path {
            line(&mut text, format_args!("# File: {path}"));
        }
        text.push_str(&block.lines);
    }
    text.push('\n');
    for sentence in &page.verification {
        line(&mut text, format_args!("{sentence}"));
    }
    text
}

/// Returns the commands that give the users of the accepted projects their rights.
fn roles(record: &EnrolledCluster, section: &EnrolmentConfig) -> String {
    let (developer, viewer) = section
        .roles
        .as_ref()
        .map_or(("ROLE_ID", "ROLE_ID"), |roles| {
            (roles.developer.as_str(), roles.viewer.as_str())
        });
    // for one project the bare IDs of the roles are sufficient
    let projects: String = match record.accepted_projects.as_slice() {
        [] | [_] => String::new(),
        several => several
            .iter()
            .map(|project| format!(" --project {project}"))
            .collect(),
    };
    format!(
        "\n# Rights. rbac.yaml is the file that `portico init` writes for a cluster, the same for all of them.\n\
         kubectl apply -f rbac.yaml\n\
         portico kube-auth bootstrap --kubeconfig admin.kubeconfig \
         --developer-role {developer} --viewer-role {viewer}{projects}\n"
    )
}
