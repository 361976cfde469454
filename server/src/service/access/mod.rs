//! The access page: the role bindings of a cluster, and changes to them.
mod change;
mod preview;
mod protection;
mod subjects;
mod undo;
mod verification;
mod view;
mod what_can;
mod who_can;

pub use change::{grant, group_of, revoke, take_back};
pub use preview::preview;
pub use subjects::{Names, bound_group, is_keystone_id, is_keystone_user_id};
pub use undo::UndoStore;
pub use verification::KeystoneLookup;
pub use view::view;
pub use what_can::answer as what_can;
pub use who_can::answer as who_can;
