//! What the browser does for this benchmark: `end2end/bench/cluster.mjs`.
use crate::panel::driver::Driver;
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

/// The pages of a project's clusters, in a browser that is signed in.
pub struct Pages<'a> {
    pub driver: &'a mut Driver,
    pub project: &'a str,
}

/// One call of the panel, from its request to its whole answer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Called {
    pub answer_ms: f64,
    pub bytes: u64,
    /// Of a list.
    #[serde(default, skip_serializing)]
    pub clusters: Option<usize>,
}

/// The list's page, opened with a full page load and cached files.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Opened {
    pub first_rows_ms: f64,
}

#[derive(Deserialize)]
struct Seen {
    at_ms: f64,
}

impl Pages<'_> {
    fn path(&self, below: &str) -> String {
        format!("/projects/{}/managed-clusters{below}", self.project)
    }

    /// Opens the page of a cluster with a running operation, and waits until it shows that.
    pub async fn watch(&mut self, cluster: Uuid) -> Result<()> {
        let path = self.path(&format!("/{cluster}"));
        let command = json!({"do": "watch_cluster", "path": path});
        self.driver.tell(&command).await
    }

    /// Waits until that page shows the end of the operation. Returns when, in milliseconds since 1970.
    pub async fn end_seen(&mut self) -> Result<f64> {
        let seen: Seen = self.driver.ask(&json!({"do": "cluster_seen"})).await?;
        Ok(seen.at_ms)
    }

    /// Opens the list.
    pub async fn open_list(&mut self) -> Result<Opened> {
        let path = self.path("");
        let command = json!({"do": "first_rows", "path": path, "shared": false});
        self.driver.ask(&command).await
    }

    /// Calls the panel's list of clusters.
    pub async fn list(&mut self, expected: usize) -> Result<Called> {
        let called = self.call("/api/managed_clusters/list", Value::Null).await?;
        ensure!(
            called.clusters == Some(expected),
            "the list has {:?} clusters instead of {expected}",
            called.clusters
        );
        Ok(called)
    }

    /// Calls what the page of a cluster is made from.
    pub async fn describe(&mut self, cluster: Uuid) -> Result<Called> {
        let body = json!({"cluster": cluster, "version": null});
        self.call("/api/managed_clusters/progress", body).await
    }

    async fn call(&mut self, function: &str, body: Value) -> Result<Called> {
        let command = json!({
            "do": "call_panel",
            "path": self.path(""),
            "project": self.project,
            "function": function,
            "body": body,
        });
        self.driver.ask(&command).await
    }
}
