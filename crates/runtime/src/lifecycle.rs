//! Start and stop: a stop signal, the tasks that must end, and how long that may take.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// `[shutdown]`: how a process leaves without losing a request. Both times together should be
/// shorter than what its supervisor waits before it kills (Docker 10 s, Kubernetes 30 s).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ShutdownConfig {
    /// For so long after SIGTERM `/ready` answers 503 while everything is still served, so that
    /// load balancers notice before the listeners close. `0s`: they close at once.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub notice: Duration,
    /// How long running requests may take to finish after that.
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

/// The life of the process. Clones share it.
///
/// A stop is *announced* first: the process says that it is not ready, and serves on. Then it is
/// *soft*: listeners accept nothing new, running requests and streams may end by themselves. When
/// the deadline passes it becomes *hard*: what still runs is dropped.
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
    /// A life whose soft stop lasts at most `deadline`, and begins without notice.
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

    /// A life that ends as configured.
    pub fn ending(config: &ShutdownConfig) -> Self {
        Self {
            notice: config.notice,
            ..Self::new(config.deadline)
        }
    }

    /// Cancelled when a stop was asked for: say that you are not ready, and go on serving.
    pub fn announced(&self) -> &CancellationToken {
        &self.announced
    }

    /// Cancelled when the stop starts: finish what you do and accept nothing new.
    pub fn soft_stop(&self) -> &CancellationToken {
        &self.soft
    }

    /// Cancelled when the deadline has passed.
    pub fn hard_stop(&self) -> &CancellationToken {
        &self.hard
    }

    /// Whether a stop was asked for.
    pub fn is_stopping(&self) -> bool {
        self.announced.is_cancelled()
    }

    /// Starts the stop, without notice.
    pub fn stop(&self) {
        self.announced.cancel();
        self.soft.cancel();
    }

    /// Runs a task that the stop waits for; it is dropped at the hard stop. The task itself must
    /// watch [`Self::soft_stop`] when it would go on for long.
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let hard = self.hard.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = hard.cancelled() => {}
                () = task => {}
            }
        });
    }

    /// Runs a task that has nothing to finish: it is dropped as soon as the stop starts.
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

    /// Waits for SIGTERM, SIGINT or [`Self::stop`], gives notice, then waits for the tasks; a
    /// second signal or the deadline ends the wait.
    ///
    /// # Errors
    /// When signals cannot be received.
    pub async fn run_until_stopped(&self) -> std::io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let notice = tokio::select! {
            _ = terminate.recv() => {
                tracing::info!(notice = ?self.notice, "SIGTERM received, stopping");
                self.notice
            }
            // typed at a terminal: nobody else has to notice
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

    /// Waits until every task has ended or the deadline passed; what is left is then dropped.
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
