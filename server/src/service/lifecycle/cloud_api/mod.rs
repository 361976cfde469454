//! The cloud's services for the command line (ADR 0026): calls are passed on with the caller's own Keystone
//! token, and changes of clusters are in their journals.
mod check;
mod creation;
mod enrolment;
mod pass_on;
mod protected;
mod protection;
mod rights;
mod rules;
#[cfg(test)]
mod tests;

pub use check::CloudRequest;
pub use enrolment::{cloud_enrol, cloud_enrolment, records_refused_enrolment, remove_cloud_record};
pub use pass_on::{CloudRefusal, pass_on};
pub use protection::{cloud_protection, set_cloud_protection};
pub(super) use rights::Known as KnownClusters;
