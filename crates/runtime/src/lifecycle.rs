//! Start and stop of the process: the stop signal, the tasks to wait for, and the deadline.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// `[shutdown]`: how a process stops without losing a request. The sum of both times should be less
/// than the time after which its supervisor kills it (Docker 10 s, Kubernetes 30 s).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShutdownConfig {
    /// How long after SIGTERM `/ready` answers 503 while requests are still served, so that load
    /// balancers notice before the listeners close. `0s`: they close at once.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub notice: Duration,
    /// How long running requests may take to complete after that.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub deadline: Duration,
}

impl Default for ShutdownConfig {
    fn default() -> Self {
        Self {
            notice: Duration::from_secs(3),
            deadline: Duration::from_secs(6),
        }
    }
}

/// The lifecycle of the process. Clones share it.
///
/// A stop is *announced* first: the process reports that it is not ready, but still serves
/// requests. Then it is *soft*: listeners accept nothing new, running requests and streams may end
/// by themselves. When the deadline passes it becomes *hard*: what is still running is dropped.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    announced: CancellationToken,
    soft: CancellationToken,
    hard: CancellationToken,
    tasks: TaskTracker,
    notice: Duration,
    deadline: Duration,
}

impl Lifecycle {
    /// Returns a lifecycle whose soft stop lasts at most `deadline`, and starts without notice.
    pub fn new(deadline: Duration) -> Self {
        Self {
            announced: CancellationToken::new(),
            soft: CancellationToken::new(),
            hard: CancellationToken::new(),
            tasks: TaskTracker::new(),
            notice: Duration::ZERO,
            deadline,
        }
    }

    /// Returns a lifecycle with the configured stop.
    pub fn ending(config: &ShutdownConfig) -> Self {
        Self {
            notice: config.notice,
            ..Self::new(config.deadline)
        }
    }

    /// Returns a token that is cancelled when a stop was requested: report that you are not ready,
    /// and keep serving.
    pub fn announced(&self) -> &CancellationToken {
        &self.announced
    }

    /// Returns a token that is cancelled when the stop starts: complete what is running and accept
    /// nothing new.
    pub fn soft_stop(&self) -> &CancellationToken {
        &self.soft
    }

    /// Returns a token that is cancelled when the deadline has passed.
    pub fn hard_stop(&self) -> &CancellationToken {
        &self.hard
    }

    /// Returns whether a stop was requested.
    pub fn is_stopping(&self) -> bool {
        self.announced.is_cancelled()
    }

    /// Starts the stop, without notice.
    pub fn stop(&self) {
        self.announced.cancel();
        self.soft.cancel();
    }

    /// Runs a task that the stop waits for; it is dropped at the hard stop. The task itself must
    /// watch [`Self::soft_stop`] if it runs for long.
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(self.spawn_awaited(task));
    }

    /// Runs a task like [`Self::spawn`]; the handle has its output, or `None` if the hard stop has dropped
    /// it. The task continues if the handle is dropped.
    pub fn spawn_awaited<F>(&self, task: F) -> JoinHandle<Option<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let hard = self.hard.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = hard.cancelled() => None,
                output = task => Some(output),
            }
        })
    }

    /// Runs a task without anything to complete: it is dropped as soon as the stop starts.
    pub fn spawn_background<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let soft = self.soft.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = soft.cancelled() => {}
                () = task => {}
            }
        });
    }

    /// Waits for SIGTERM, SIGINT or [`Self::stop`], announces the stop, then waits for the tasks; a
    /// second signal or the deadline ends the wait.
    ///
    /// # Errors
    /// If signals cannot be received.
    pub async fn run_until_stopped(&self) -> std::io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let notice = tokio::select! {
            _ = terminate.recv() => {
                tracing::info!(notice = ?self.notice, "SIGTERM received, stopping");
                self.notice
            }
            // typed at a terminal: no load balancer has to notice
            _ = interrupt.recv() => {
                tracing::info!("SIGINT received, stopping");
                Duration::ZERO
            }
            () = self.soft.cancelled() => Duration::ZERO,
        };
        self.announced.cancel();
        let leave = async {
            if !notice.is_zero() {
                tokio::time::sleep(notice).await;
                tracing::info!("the listeners close, running requests are finished");
            }
            self.soft.cancel();
            self.drain().await;
        };
        tokio::select! {
            () = leave => {}
            _ = terminate.recv() => tracing::warn!("second signal, stopping at once"),
            _ = interrupt.recv() => tracing::warn!("second signal, stopping at once"),
        }
        self.soft.cancel();
        self.hard.cancel();
        Ok(())
    }

    /// Waits until every task has ended or the deadline has passed; the remaining ones are then
    /// dropped.
    pub async fn drain(&self) {
        self.tasks.close();
        if tokio::time::timeout(self.deadline, self.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!(
                tasks = self.tasks.len(),
                "the stop deadline passed, dropping what still runs"
            );
            self.hard.cancel();
            self.tasks.wait().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[tokio::test]
    async fn a_task_that_finishes_is_waited_for() {
        let lifecycle = Lifecycle::new(Duration::from_secs(10));
        let finished = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&finished);
        lifecycle.spawn(async move {
            tokio::task::yield_now().await;
            flag.store(true, Ordering::SeqCst);
        });
        lifecycle.stop();
        lifecycle.run_until_stopped().await.unwrap();
        assert!(finished.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn an_awaited_task_is_waited_for_without_its_handle() {
        let lifecycle = Lifecycle::new(Duration::from_secs(10));
        assert_eq!(lifecycle.spawn_awaited(async { 7 }).await.unwrap(), Some(7));
        let finished = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&finished);
        drop(lifecycle.spawn_awaited(async move {
            tokio::task::yield_now().await;
            flag.store(true, Ordering::SeqCst);
        }));
        lifecycle.stop();
        lifecycle.drain().await;
        assert!(finished.load(Ordering::SeqCst));

        let stopped = Lifecycle::new(Duration::ZERO);
        let hanging = stopped.spawn_awaited(std::future::pending::<()>());
        stopped.stop();
        stopped.drain().await;
        assert_eq!(hanging.await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_task_that_hangs_is_dropped_at_the_deadline() {
        let lifecycle = Lifecycle::new(Duration::from_millis(20));
        lifecycle.spawn(std::future::pending());
        lifecycle.stop();
        lifecycle.run_until_stopped().await.unwrap();
        assert!(lifecycle.hard_stop().is_cancelled());
    }

    #[tokio::test]
    async fn what_is_announced_still_runs() {
        let lifecycle = Lifecycle::ending(&ShutdownConfig::default());
        lifecycle.announced().cancel();
        assert!(lifecycle.is_stopping());
        assert!(!lifecycle.soft_stop().is_cancelled());
    }

    #[tokio::test]
    async fn background_work_ends_with_the_soft_stop() {
        let lifecycle = Lifecycle::new(Duration::from_secs(60));
        lifecycle.spawn_background(std::future::pending());
        lifecycle.stop();
        lifecycle.drain().await;
        assert!(!lifecycle.hard_stop().is_cancelled());
    }
}
