//! The rounds of a run.
use super::driver::{Called, Opened, Pages};
use super::program::{Program, Ran};
use super::tenant::Tenant;
use anyhow::{Result, ensure};
use serde::Serialize;
use std::time::Duration;
use tokio::time::sleep;
use uuid::Uuid;

/// The cluster whose page is watched and that is described.
const WATCHED: &str = "bench-watched";
/// Longer than the interval at which an idle cluster is read: the operation begins outside of Portico, and its
/// page must show that it runs.
const OPERATION_SECONDS: &str = "24";

/// A page that is opened shows an answer of Magnum of this age at most. Opened earlier, it would show what the page
/// of the round before has read.
const OPENED_MAX_AGE: Duration = Duration::from_secs(4);

/// The number of measurements.
pub struct Effort {
    pub is_quick: bool,
    /// All clusters of the project, the watched one included.
    pub clusters: u32,
    /// Operations whose end is waited for.
    pub operations: u32,
    /// Starts of the program.
    pub starts: u32,
    /// Of each list and description.
    pub reads: u32,
}

/// The end of one operation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Shown {
    /// From the end in Magnum to the frame of the page that shows it.
    pub behind_ms: f64,
}

/// All rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Rounds {
    pub operations: Vec<Shown>,
    /// `portico cluster list` with one cluster.
    pub starts: Vec<Ran>,
    /// The same with all clusters.
    pub program_list: Vec<Ran>,
    /// `portico cluster show` of one of them.
    pub program_show: Vec<Ran>,
    pub panel_list: Vec<Called>,
    pub panel_list_page: Vec<Opened>,
    pub panel_describe: Vec<Called>,
}

/// Reports what a run has done, on standard error.
fn progress(text: &str) {
    eprintln!("{text}");
}

/// What is measured, and how often.
pub struct Run<'a> {
    pub tenant: &'a Tenant,
    pub program: &'a Program,
    pub pages: Pages<'a>,
    pub effort: &'a Effort,
}

impl Run<'_> {
    /// Measures everything.
    pub async fn all(mut self) -> Result<Rounds> {
        let labels = [("sim_seconds", OPERATION_SECONDS)];
        let cluster = self.tenant.make(WATCHED, &labels).await?;
        ensure!(
            cluster.status.is_complete(),
            "the cluster was not created: {:?}",
            cluster.status_reason
        );
        let cluster = cluster.uuid;
        let operations = self.operations(cluster).await?;
        progress("operations measured");
        let starts = self.program_runs(&["list"], self.effort.starts, 1).await?;
        progress("starts of the program measured");
        self.tenant
            .fill(self.effort.clusters.saturating_sub(1))
            .await?;
        progress("clusters created");
        let (clusters, reads) = (self.effort.clusters, self.effort.reads);
        let program_list = self.program_runs(&["list"], reads, clusters).await?;
        let program_show = self.program_runs(&["show", WATCHED], reads, 1).await?;
        let (panel_list, panel_list_page, panel_describe) = self.panel(cluster).await?;
        Ok(Rounds {
            operations,
            starts,
            program_list,
            program_show,
            panel_list,
            panel_list_page,
            panel_describe,
        })
    }

    async fn operations(&mut self, cluster: Uuid) -> Result<Vec<Shown>> {
        let mut all = Vec::new();
        for round in 0..self.effort.operations {
            // one more node, and one less again
            self.tenant.resize(cluster, 2 - round % 2).await?;
            sleep(OPENED_MAX_AGE).await;
            self.pages.watch(cluster).await?;
            let ended = self.tenant.end_of_operation(cluster).await?;
            let seen = self.pages.end_seen().await?;
            let behind_ms = seen - ended;
            progress(&format!("round {round}: {behind_ms:.0} ms"));
            all.push(Shown { behind_ms });
        }
        Ok(all)
    }

    /// Runs a command of the program; each of the clusters is a line of the table or more.
    async fn program_runs(&self, words: &[&str], runs: u32, clusters: u32) -> Result<Vec<Ran>> {
        let mut all = Vec::new();
        for _ in 0..runs {
            let (ran, printed) = self.program.cluster(words).await?;
            let lines = printed.lines().count();
            let is_whole = usize::try_from(clusters).is_ok_and(|clusters| lines > clusters);
            ensure!(is_whole, "{lines} lines for {clusters} clusters: {printed}");
            all.push(ran);
        }
        Ok(all)
    }

    async fn panel(&mut self, cluster: Uuid) -> Result<(Vec<Called>, Vec<Opened>, Vec<Called>)> {
        let expected = usize::try_from(self.effort.clusters)?;
        let (mut lists, mut pages, mut described) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..self.effort.reads {
            lists.push(self.pages.list(expected).await?);
            pages.push(self.pages.open_list().await?);
            described.push(self.pages.describe(cluster).await?);
        }
        Ok((lists, pages, described))
    }
}
