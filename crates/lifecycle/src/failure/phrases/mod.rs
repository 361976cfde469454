//! Phrases by which the text of a failure is classified.
//!
//! They are in lower case; `*` matches any text between two parts. The first class with a matching
//! phrase wins, so specific classes precede general ones: the text of a webhook may name a version, and
//! the text of nearly every failed request of a driver has "Expected HTTP response code".
mod requests;
mod resources;

use super::Class;

/// Classes with their phrases, in the order in which they are tried.
pub type Phrases = &'static [(Class, &'static [&'static str])];

/// All tables, in the order in which they are tried.
pub const TABLES: [Phrases; 2] = [requests::PHRASES, resources::PHRASES];
