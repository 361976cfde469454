//! Parts of pages that know the router or the api.
mod age;
mod attention;
mod cell;
mod error_state;
mod form_outcome;
mod help;
mod live_status;
mod page_head;
mod project_switcher;
mod reauthenticate;
mod resource_table;
mod theme;
mod toasts;

pub use age::Age;
pub use attention::AttentionList;
pub use error_state::{ErrorState, InlineError, not_permitted};
pub use form_outcome::FormOutcome;
pub use help::HelpDialog;
pub use live_status::{LiveStatus, StaleBanner};
pub use page_head::{Crumb, PageHead};
pub use project_switcher::ProjectSwitcher;
pub use reauthenticate::ReauthDialog;
pub use resource_table::ResourceTable;
pub use theme::ThemeToggle;
pub use toasts::{ToastRegion, provide_toasts, use_toasts};
