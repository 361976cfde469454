//! Numbers of clusters and nodes.
use super::client::Client;
use super::version::Feature;
use crate::rest::{Call, Error, ScopedToken};
use reqwest::StatusCode;
use serde::Deserialize;

/// How much there is of a project, or of all for an admin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Stats {
    pub clusters: u64,
    /// Control plane nodes included.
    pub nodes: u64,
}

impl Client {
    /// Returns the numbers of clusters and nodes of a project; of the token's own for `None`, and
    /// of all projects if it is an admin's.
    ///
    /// # Errors
    /// [`crate::rest::ErrorKind::Forbidden`] for another project; [`crate::rest::ErrorKind::NotAvailable`] before 1.4.
    pub async fn stats(
        &self,
        token: &ScopedToken,
        project_id: Option<&str>,
    ) -> Result<Stats, Error> {
        let mut call = Call::get("stats", "stats");
        if let Some(project_id) = project_id {
            call = call.with_query("project_id", project_id);
        }
        self.run(token, &[Feature::Stats], call, |answer| {
            answer.json(&[StatusCode::OK])
        })
        .await
    }
}
