//! The pages of cluster templates: list, details, copies, the flags of an administrator, and deletion. The
//! cards of the form for a new cluster are those of [`super::creation`].
mod reading;
mod request;
#[cfg(test)]
mod tests;

pub use reading::{template, templates};
pub use request::{copy_template, delete_template, set_template_flag};
