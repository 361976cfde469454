//! Start and stop: a stop signal, the tasks that must end, and how long that may take.
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The life of the process. Clones share it.
///
/// A stop is *soft* first: listeners accept nothing new, running requests and streams may end
/// by themselves. When the deadline passes it becomes *hard*: what still runs is dropped.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    soft: CancellationToken,
    hard: CancellationToken,
    tasks: TaskTracker,
    deadline: Duration,
}

impl Lifecycle {
    /// A life whose soft stop lasts at most `deadline`.
    pub fn new(deadline: Duration) -> Self {
        Self {
            soft: CancellationToken::new(),
            hard: CancellationToken::new(),
            tasks: TaskTracker::new(),
            deadline,
        }
    }

    /// Cancelled when the stop starts: finish what you do and accept nothing new.
    pub fn soft_stop(&self) -> &CancellationToken {
        &self.soft
    }

    /// Cancelled when the deadline has passed.
    pub fn hard_stop(&self) -> &CancellationToken {
        &self.hard
    }

    /// Whether a stop has started.
    pub fn is_stopping(&self) -> bool {
        self.soft.is_cancelled()
    }

    /// Starts the stop.
    pub fn stop(&self) {
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

    /// Waits for SIGTERM, SIGINT or [`Self::stop`], then for the tasks; a second signal or the
    /// deadline ends the wait.
    ///
    /// # Errors
    /// When signals cannot be received.
    pub async fn run_until_stopped(&self) -> std::io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => tracing::info!("SIGTERM received, stopping"),
            _ = interrupt.recv() => tracing::info!("SIGINT received, stopping"),
            () = self.soft.cancelled() => {}
        }
        self.soft.cancel();
        tokio::select! {
            () = self.drain() => {}
            _ = terminate.recv() => tracing::warn!("second signal, stopping at once"),
            _ = interrupt.recv() => tracing::warn!("second signal, stopping at once"),
        }
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
    async fn background_work_ends_with_the_soft_stop() {
        let lifecycle = Lifecycle::new(Duration::from_secs(60));
        lifecycle.spawn_background(std::future::pending());
        lifecycle.stop();
        lifecycle.drain().await;
        assert!(!lifecycle.hard_stop().is_cancelled());
    }
}
