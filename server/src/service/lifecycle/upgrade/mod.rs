//! The upgrade of a cluster: what it can be upgraded to, what would change, and the request.
mod examination;
mod inside;
mod options;
mod request;
#[cfg(test)]
mod tests;

pub use examination::refusal;
pub use inside::blocking_budgets;
pub use options::options;
pub use request::upgrade;
