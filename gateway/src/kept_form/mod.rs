//! A form that arrives when its session has expired is kept for some minutes, sealed, until the
//! same user has signed in again in the same browser; then a page offers to send it. It is never
//! sent by itself, and never for anybody else.
pub(crate) mod give_back;
mod keep;
