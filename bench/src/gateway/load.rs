//! A load generator: sends requests as fast as responses arrive, over persistent connections, and
//! checks the status and length of every response.
use super::wire::KeepAliveConnection;
use anyhow::{Context as _, Result, ensure};
use hdrhistogram::Histogram;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// A request, and the length of the correct response.
#[derive(Clone, Debug)]
pub struct Ask {
    pub request: Arc<[u8]>,
    pub length: usize,
}

/// The result of a load.
pub struct Outcome {
    pub requests: u64,
    pub took: Duration,
    latencies: Histogram<u64>,
}

impl Outcome {
    /// Returns a quantile of the latencies, in milliseconds.
    pub fn quantile(&self, quantile: f64) -> f64 {
        self.latencies.value_at_quantile(quantile) as f64 / 1e6
    }
}

/// Connections that have sent one request each: the work of first requests is done.
pub struct Load {
    connections: Vec<KeepAliveConnection>,
    ask: Ask,
}

impl Load {
    /// Connects.
    pub async fn connect(address: SocketAddr, connections: usize, ask: &Ask) -> Result<Self> {
        let mut kept = Vec::new();
        for _ in 0..connections {
            let mut connection = KeepAliveConnection::connect(address).await?;
            once(&mut connection, ask).await?;
            kept.push(connection);
        }
        Ok(Self {
            connections: kept,
            ask: ask.clone(),
        })
    }

    /// Sends about `requests` requests, the same number over each connection. Returns the number of
    /// responses.
    pub async fn run_requests(self, requests: u64) -> Result<u64> {
        let connections = self.connections.len() as u64;
        let each = (requests / connections).max(1);
        let mut tasks = JoinSet::new();
        for mut connection in self.connections {
            let ask = self.ask.clone();
            tasks.spawn(async move {
                for _ in 0..each {
                    once(&mut connection, &ask).await?;
                }
                anyhow::Ok(())
            });
        }
        for task in tasks.join_all().await {
            task?;
        }
        Ok(each * connections)
    }

    /// Runs for the given time.
    pub async fn run(self, time: Duration) -> Result<Outcome> {
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        for mut connection in self.connections {
            let ask = self.ask.clone();
            tasks.spawn(async move {
                let mut latencies = Vec::with_capacity(64 * 1024);
                while started.elapsed() < time {
                    let asked = Instant::now();
                    once(&mut connection, &ask).await?;
                    latencies.push(u64::try_from(asked.elapsed().as_nanos()).unwrap_or(u64::MAX));
                }
                anyhow::Ok(latencies)
            });
        }
        let mut latencies = Histogram::new_with_bounds(1_000, 120_000_000_000, 3)?;
        let all = async {
            while let Some(task) = tasks.join_next().await {
                for nanoseconds in task?? {
                    latencies.saturating_record(nanoseconds);
                }
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(time + Duration::from_secs(30), all)
            .await
            .context("the server stopped answering")??;
        Ok(Outcome {
            requests: latencies.len(),
            took: started.elapsed(),
            latencies,
        })
    }
}

async fn once(connection: &mut KeepAliveConnection, ask: &Ask) -> Result<()> {
    let answer = connection.ask(&ask.request).await?;
    ensure!(
        answer.status == 200 && answer.length == ask.length,
        "status {} and {} bytes",
        answer.status,
        answer.length
    );
    Ok(())
}
