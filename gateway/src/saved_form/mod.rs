//! Saves a form that arrives after its session has expired for some minutes, sealed, until the same
//! user has signed in again in the same browser; then a page offers to submit it. It is never
//! submitted automatically, and never for another user.
mod keep;
pub(crate) mod resume;
