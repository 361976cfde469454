//! Changes at the API server, at an even rate.
use super::fill::Admin;
use super::pods::Pod;
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

pub const PER_SECOND: usize = 100;
/// Of this many changes one deletes a pod and one creates it again.
const CYCLE: usize = 20;
/// A page shows the first rows: every second change is at one of these, so that the page changes too.
const FIRST_ROWS: usize = 50;

/// Changes that are being made; they end with the value.
pub struct Changes {
    made: Arc<AtomicUsize>,
    started: Instant,
    /// One task, which ends with the set.
    task: JoinSet<Result<()>>,
}

impl Changes {
    /// Starts changing some of this number of pods, but none of `others`.
    pub fn start(admin: &Admin, pods: usize, others: Vec<Pod>) -> Self {
        let made = Arc::new(AtomicUsize::new(0));
        let mut task = JoinSet::new();
        task.spawn(run(admin.clone(), pods, others, Arc::clone(&made)));
        Self {
            made,
            started: Instant::now(),
            task,
        }
    }

    /// Ends them; returns how many were made each second.
    pub fn stop(mut self) -> Result<f64> {
        let rate = self.made.load(Ordering::SeqCst) as f64 / self.started.elapsed().as_secs_f64();
        if let Some(ended) = self.task.try_join_next() {
            ended??;
        }
        Ok(rate)
    }
}

async fn run(admin: Admin, pods: usize, others: Vec<Pod>, made: Arc<AtomicUsize>) -> Result<()> {
    let chosen = |number| chosen(number, pods, &others);
    let mut ticks = interval(Duration::from_secs(1) / u32::try_from(PER_SECOND)?);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut under_way = JoinSet::new();
    let mut deleted = None;
    for number in 0.. {
        ticks.tick().await;
        match number % CYCLE {
            0 => {
                let pod = chosen(number);
                deleted = Some(pod);
                let path = format!("{}?gracePeriodSeconds=0", pod.path());
                let (status, body) = admin.api().delete(&path).await?;
                ensure!(status == 200, "DELETE {path}: {status} {body}");
                made.fetch_add(1, Ordering::SeqCst);
            }
            1 => {
                let pod = deleted.take().context("no pod was deleted")?;
                admin.create_pod(pod).await?;
                made.fetch_add(1, Ordering::SeqCst);
            }
            _ => {
                let (admin, made) = (admin.clone(), Arc::clone(&made));
                let pod = chosen(number);
                under_way.spawn(async move {
                    restart(&admin, pod, number).await?;
                    made.fetch_add(1, Ordering::SeqCst);
                    anyhow::Ok(())
                });
            }
        }
        while let Some(done) = under_way.try_join_next() {
            done??;
        }
    }
    Ok(())
}

/// Returns the pod of a change: one of the first rows, or any other; none of `others`.
fn chosen(number: usize, pods: usize, others: &[Pod]) -> Pod {
    let first = Pod(number / 2 * 7 % FIRST_ROWS);
    if number.is_multiple_of(2) && !others.contains(&first) {
        first
    } else {
        Pod(FIRST_ROWS + number * 7_919 % (pods - FIRST_ROWS))
    }
}

/// Sets the number of restarts of a pod's first container. A pod that is deleted at this moment, or
/// has no container, is left out.
pub async fn restart(admin: &Admin, pod: Pod, restarts: usize) -> Result<()> {
    if !pod.has_restarts() {
        return Ok(());
    }
    let change = json!([
        {"op": "replace", "path": "/status/containerStatuses/0/restartCount", "value": restarts},
    ]);
    let path = format!("{}/status", pod.path());
    let (status, body) = admin.api().patch(&path, &change).await?;
    ensure!(
        [200, 404, 422].contains(&status),
        "PATCH {path}: {status} {body}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_that_are_waited_for_are_not_changed_by_others() {
        let others = [Pod(0), Pod(7), Pod(14)];
        let changed: Vec<Pod> = (0..1_000)
            .map(|number| chosen(number, 1_000, &others))
            .collect();
        assert!(changed.iter().all(|pod| !others.contains(pod)));
        let on_first_rows = changed.iter().filter(|pod| pod.0 < FIRST_ROWS).count();
        assert!(on_first_rows > 400, "{on_first_rows}");
    }
}
