//! Fills the API server: as many requests at a time as it answers fastest.
use super::objects::{self, NAMESPACES, NODES};
use super::pods::Pod;
use anyhow::{Result, ensure};
use portico_testkit::{Bearer, Cluster};
use serde::Serialize;
use serde_json::Value;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::task::JoinSet;

const CONCURRENT_REQUESTS: usize = 24;

/// What the cluster holds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Filled {
    pub pods: usize,
    pub nodes: usize,
    pub namespaces: usize,
    pub events: usize,
    /// Of one pod, as JSON from the API server.
    pub pod_bytes: usize,
    pub seconds: f64,
}

/// An administrator of the API server.
#[derive(Clone)]
pub struct Admin {
    cluster: Arc<Cluster>,
    token: Arc<str>,
}

impl Admin {
    pub fn new(cluster: Cluster, token: &str) -> Self {
        Self {
            cluster: Arc::new(cluster),
            token: token.into(),
        }
    }

    /// Returns the API.
    pub fn api(&self) -> Bearer<'_> {
        self.cluster.with_token(&self.token)
    }

    /// Creates an object below a path of the API.
    pub async fn create(&self, path: &str, object: Value) -> Result<Value> {
        let (status, created) = self.api().post(path, object).await?;
        ensure!(status == 201, "POST {path}: {status} {created}");
        Ok(created)
    }

    /// Creates a pod, then sets its status.
    pub async fn create_pod(&self, pod: Pod) -> Result<Value> {
        let mut object = self.create(&pod.collection(), pod.object()).await?;
        object["status"] = pod.status(&now());
        let path = format!("{}/status", pod.path());
        let (status, stored) = self.api().put(&path, object).await?;
        ensure!(status == 200, "PUT {path}: {status} {stored}");
        Ok(stored)
    }
}

fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}

/// Creates this number of pods and events, and all nodes and namespaces.
pub async fn fill(admin: &Admin, pods: usize, events: usize) -> Result<Filled> {
    let started = Instant::now();
    all(NAMESPACES, admin, |admin, number| async move {
        admin
            .create("/api/v1/namespaces", objects::namespace(number))
            .await
    })
    .await?;
    all(NODES, admin, |admin, number| async move {
        admin
            .create("/api/v1/nodes", objects::node(number, &now()))
            .await
    })
    .await?;
    all(pods, admin, |admin, number| async move {
        admin.create_pod(Pod(number)).await
    })
    .await?;
    all(events, admin, move |admin, number| async move {
        let event = objects::event(number, pods, &now());
        let namespace = event["metadata"]["namespace"].as_str().unwrap_or_default();
        let path = format!("/api/v1/namespaces/{namespace}/events");
        admin.create(&path, event).await
    })
    .await?;
    let seconds = started.elapsed().as_secs_f64();
    let (_, pod) = admin.api().get(&Pod(4).path()).await?;
    Ok(Filled {
        pods,
        nodes: NODES,
        namespaces: NAMESPACES,
        events,
        pod_bytes: pod.to_string().len(),
        seconds,
    })
}

/// Does `work` for each number below `count`, several at a time.
async fn all<W, F>(count: usize, admin: &Admin, work: W) -> Result<()>
where
    W: Fn(Admin, usize) -> F + Copy + Send + 'static,
    F: Future<Output = Result<Value>> + Send,
{
    let next = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for _ in 0..CONCURRENT_REQUESTS {
        let (next, admin) = (Arc::clone(&next), admin.clone());
        workers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok(());
                }
                work(admin.clone(), number).await?;
            }
        });
    }
    workers.join_all().await.into_iter().collect()
}
