//! The form for a new cluster, and its creation.
mod attempt;
mod continuation;
mod dismissal;
mod file;
mod form;
mod mapping;
mod options;
mod outcome;
mod review;
mod send;
mod templates;
#[cfg(test)]
mod tests;

pub use continuation::{continue_creation, stored_steps};
pub use dismissal::dismiss_creation;
pub use file::read_file;
pub use mapping::{plain_check, projection, quota_uses, step};
pub use options::{flavor_options, options, reading};
pub use review::review;
pub use send::create;
pub use templates::{Sources as TemplateSources, cards as template_cards};

pub(super) use attempt::of_store;
