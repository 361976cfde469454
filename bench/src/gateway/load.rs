//! Asking as fast as answers come, over kept connections. Every answer's status and length count.
use super::wire::Kept;
use anyhow::{Context as _, Result, ensure};
use hdrhistogram::Histogram;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// A request, and how long the right answer is.
#[derive(Clone, Debug)]
pub struct Ask {
    pub request: Arc<[u8]>,
    pub length: usize,
}

/// What came of it.
pub struct Outcome {
    pub requests: u64,
    pub took: Duration,
    latencies: Histogram<u64>,
}

impl Outcome {
    /// In milliseconds.
    pub fn quantile(&self, quantile: f64) -> f64 {
        self.latencies.value_at_quantile(quantile) as f64 / 1e6
    }
}

/// Connections that have asked once each: what is done at the first request is done.
pub struct Load {
    connections: Vec<Kept>,
    ask: Ask,
}

impl Load {
    /// Connects.
    pub async fn connect(address: SocketAddr, connections: usize, ask: &Ask) -> Result<Self> {
        let mut kept = Vec::new();
        for _ in 0..connections {
            let mut connection = Kept::connect(address).await?;
            once(&mut connection, ask).await?;
            kept.push(connection);
        }
        Ok(Self {
            connections: kept,
            ask: ask.clone(),
        })
    }

    /// Sends about so many requests, equally many over each connection. Returns how many were answered.
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

    /// Runs for so long.
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

async fn once(connection: &mut Kept, ask: &Ask) -> Result<()> {
    let answer = connection.ask(&ask.request).await?;
    ensure!(
        answer.status == 200 && answer.length == ask.length,
        "status {} and {} bytes",
        answer.status,
        answer.length
    );
    Ok(())
}
