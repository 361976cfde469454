//! A timeout that is cancelled with its component: its action concerns a page that was left.
use leptos::prelude::*;
use std::time::Duration;

/// One timeout at a time. `Copy`.
#[derive(Clone, Copy)]
pub struct Timer(StoredValue<Option<TimeoutHandle>>);

impl Timer {
    /// Makes a timer of the current component, whose cleanup stops it.
    pub fn new() -> Self {
        let timer = Self(StoredValue::new(None));
        on_cleanup(move || timer.stop());
        timer
    }

    /// Runs `work` after `wait`, and cancels what the timer would have run. Does nothing after the
    /// component was removed.
    pub fn start(self, wait: Duration, work: impl FnOnce() + 'static) {
        self.0.try_update_value(|pending| {
            if let Some(pending) = pending.take() {
                pending.clear();
            }
            *pending = set_timeout_with_handle(work, wait).ok();
        });
    }

    /// Cancels what the timer would have run.
    pub fn cancel(self) {
        self.stop();
    }

    fn stop(self) {
        self.0.try_update_value(|pending| {
            if let Some(pending) = pending.take() {
                pending.clear();
            }
        });
    }
}
