//! Hooks that work in the browser only: the event stream, live lists, the keyboard. On the server
//! each of them does nothing.
pub mod browser_value;
pub mod keyboard;
pub mod live_list;
pub mod poll;
pub mod preferences;
pub mod scripts;
pub mod stream;
pub mod timer;

pub use live_list::{LiveList, LiveRow, Liveness};
pub use poll::{keep_fresh, refresh_quietly, use_poll};
pub use timer::Timer;
