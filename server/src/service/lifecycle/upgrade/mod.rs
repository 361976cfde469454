//! The upgrade of a cluster: what it can be upgraded to, what would change, and the request.
mod examination;
mod inside;
mod options;
mod request;
#[cfg(test)]
mod tests;

pub use examination::refusal;
pub use options::options;
pub use request::upgrade;

use portico_domain::panel::lifecycle::UpgradeSelection;
use portico_lifecycle::plan::UpgradeChoice;

/// Returns what a page selects, as the engine has it.
pub fn choice(selection: UpgradeSelection) -> UpgradeChoice {
    UpgradeChoice {
        group: selection.group,
        max_batch_size: selection.max_batch_size,
    }
}
