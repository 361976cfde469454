//! Whether Keystone responds.
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether Keystone responded to the last request.
#[derive(Debug)]
pub(crate) struct KeystoneHealth(AtomicBool);

impl Default for KeystoneHealth {
    fn default() -> Self {
        Self(AtomicBool::new(true))
    }
}

impl KeystoneHealth {
    pub fn answers(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Records whether Keystone responds, and logs a change. Returns whether it has changed.
    pub(super) fn set(&self, answers: bool) -> bool {
        let changed = self.0.swap(answers, Ordering::Relaxed) != answers;
        match (changed, answers) {
            (true, true) => tracing::info!("Keystone answers again"),
            (true, false) => tracing::warn!("Keystone does not answer"),
            (false, _) => {}
        }
        changed
    }
}
