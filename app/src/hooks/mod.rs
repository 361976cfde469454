//! Hooks that work in the browser only: the event stream, live lists, the keyboard. On the server
//! each of them does nothing.
pub mod browser_value;
mod closing;
pub mod drafts;
pub mod editor;
pub mod keyboard;
pub mod live_list;
pub mod page_change;
pub mod poll;
pub mod preferences;
pub mod scripts;
mod scroll;
pub mod shortcuts;
pub mod stream;
pub mod timer;
pub mod window;

pub use live_list::{LiveList, Liveness};
pub use poll::{keep_fresh, refresh_quietly, use_poll};
pub use scroll::scroll_into_view;
pub use timer::Timer;
pub use window::LiveRow;
