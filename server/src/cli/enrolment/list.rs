//! `portico enrolment list`.
use super::all;
use crate::config::enrolment::EnrolmentConfig;
use portico_cli::output::{self, OutputFormat, TableRow};
use portico_domain::enrolled_cluster::EnrolledCluster;
use portico_store::Store;
use serde::Serialize;
use uuid::Uuid;

/// An enrolled cluster in the list.
#[derive(Serialize)]
struct ClusterRow {
    id: Uuid,
    name: String,
    source: &'static str,
    owner_project: String,
    accepted_projects: Vec<String>,
    accepted_roles: Vec<String>,
    api_url: String,
    /// Why the gateway and the panel do not serve the cluster.
    refusal: Option<String>,
}

impl TableRow for ClusterRow {
    const HEADINGS: &'static [&'static str] =
        &["ID", "NAME", "SOURCE", "OWNER PROJECT", "ADDRESS", "SERVED"];

    fn cells(&self) -> Vec<String> {
        let served = match &self.refusal {
            None => "yes".to_owned(),
            Some(reason) => format!("no: {reason}"),
        };
        vec![
            self.id.to_string(),
            self.name.clone(),
            self.source.to_owned(),
            self.owner_project.clone(),
            self.api_url.clone(),
            served,
        ]
    }
}

/// Returns the list of all enrolled clusters, by name.
pub(super) async fn list(
    store: &Store,
    section: &EnrolmentConfig,
    format: OutputFormat,
) -> anyhow::Result<String> {
    let mut clusters = all(store).await?;
    clusters.sort_by(|one, other| (&one.name, one.id).cmp(&(&other.name, other.id)));
    let rows: Vec<_> = clusters.into_iter().map(|one| row(one, section)).collect();
    Ok(output::list(format, &rows)?)
}

fn row(cluster: EnrolledCluster, section: &EnrolmentConfig) -> ClusterRow {
    let refusal = section.permit(&cluster.api_url).err();
    ClusterRow {
        id: cluster.id,
        name: cluster.name,
        source: cluster.source.as_str(),
        owner_project: cluster.owner_project,
        accepted_projects: cluster.accepted_projects,
        accepted_roles: cluster.accepted_roles,
        api_url: cluster.api_url,
        refusal: refusal.map(|reason| reason.to_string()),
    }
}
