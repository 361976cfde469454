//! A load generator: sends reviews as fast as responses arrive, over persistent connections.
use crate::kube_auth::client::{ApiServer, Ask, Driver, Sender};
use anyhow::{Context as _, Result, anyhow};
use futures::stream::{FuturesUnordered, TryStreamExt as _};
use hdrhistogram::Histogram;
use rand::Rng as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How requests reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// This number of HTTP/1.1 connections, each with one request at a time.
    Connections(usize),
    /// One HTTP/2 connection with this number of streams, as an API server has it.
    Streams(usize),
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub enum Until {
    Elapsed(Duration),
    Reviews(u64),
}

/// The result of a load.
pub struct Outcome {
    pub reviews: u64,
    pub took: Duration,
    pub latencies: Histogram<u64>,
}

impl Outcome {
    pub fn per_second(&self) -> f64 {
        self.reviews as f64 / self.took.as_secs_f64()
    }

    /// Returns a quantile of the latencies, in milliseconds.
    pub fn quantile(&self, quantile: f64) -> f64 {
        self.latencies.value_at_quantile(quantile) as f64 / 1e6
    }
}

/// A load that is connected but has not started: every connection has sent one request.
pub struct Load {
    asks: Arc<Vec<Ask>>,
    connections: Vec<(Vec<Sender>, Driver)>,
}

struct End {
    deadline: Option<Instant>,
    left: AtomicU64,
}

impl End {
    fn reached(&self) -> bool {
        if self.deadline.is_some_and(|end| Instant::now() >= end) {
            return true;
        }
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_err()
    }
}

impl Load {
    /// Connects. The reviews are sent in a random order.
    pub async fn connect(
        api_server: &ApiServer,
        server: SocketAddr,
        shape: Shape,
        asks: &Arc<Vec<Ask>>,
    ) -> Result<Self> {
        let mut connections = Vec::new();
        match shape {
            Shape::Connections(count) => {
                for _ in 0..count {
                    let (sender, driver) = api_server.http1(server).await?;
                    connections.push((vec![sender], driver));
                }
            }
            Shape::Streams(count) => {
                let (sender, driver) = api_server.http2(server).await?;
                let more = (1..count).filter_map(|_| sender.stream()).collect();
                let mut senders: Vec<_> = more;
                senders.push(sender);
                connections.push((senders, driver));
            }
        }
        let mut load = Self {
            asks: Arc::clone(asks),
            connections,
        };
        // the server ends its half of a handshake with the first request
        for (senders, driver) in &mut load.connections {
            let ask = asks.first().context("nothing to ask")?;
            let sender = senders.first_mut().context("no stream")?;
            beside(driver, sender.ask(ask)).await?;
        }
        Ok(load)
    }

    /// Runs.
    pub async fn run(self, until: Until) -> Result<Outcome> {
        let (limit, left) = match until {
            Until::Elapsed(time) => (Some(time), u64::MAX),
            Until::Reviews(count) => (None, count),
        };
        let started = Instant::now();
        let end = Arc::new(End {
            deadline: limit.map(|time| started + time),
            left: AtomicU64::new(left),
        });
        let mut tasks = JoinSet::new();
        for (senders, mut driver) in self.connections {
            let (asks, end) = (Arc::clone(&self.asks), Arc::clone(&end));
            tasks.spawn(async move {
                let streams: FuturesUnordered<_> = senders
                    .into_iter()
                    .map(|sender| keep_asking(sender, &asks, &end))
                    .collect();
                beside(&mut driver, streams.try_concat()).await
            });
        }
        let mut latencies = Histogram::new_with_bounds(1_000, 120_000_000_000, 3)?;
        let patience = limit.unwrap_or(Duration::from_secs(600)) + Duration::from_secs(30);
        let all = async {
            while let Some(task) = tasks.join_next().await {
                for nanoseconds in task?? {
                    latencies.saturating_record(nanoseconds);
                }
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(patience, all)
            .await
            .context("the server stopped answering")??;
        Ok(Outcome {
            reviews: latencies.len(),
            took: started.elapsed(),
            latencies,
        })
    }
}

/// Polls both in one task, so that no response waits for another task to be woken.
async fn beside<T>(driver: &mut Driver, asking: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        biased;
        result = asking => result,
        ended = driver => Err(anyhow!("the connection ended: {ended:?}")),
    }
}

async fn keep_asking(mut sender: Sender, asks: &[Ask], end: &End) -> Result<Vec<u64>> {
    let mut latencies = Vec::with_capacity(64 * 1024);
    while !end.reached() {
        let ask = &asks[rand::rng().random_range(0..asks.len())];
        let asked = Instant::now();
        sender.ask(ask).await?;
        latencies.push(u64::try_from(asked.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    Ok(latencies)
}
