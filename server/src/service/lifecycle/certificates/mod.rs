//! The authority of a cluster: its certificate, its rotation, and the signing of requests.
mod reading;
mod requests;
#[cfg(test)]
mod tests;

pub use reading::certificates;
pub use requests::{rotate, sign};
