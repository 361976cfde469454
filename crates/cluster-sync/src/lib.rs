//! The controllers that prepare clusters: they create namespaces and role bindings, independently of
//! requests and with service accounts of their own.
//!
//! [`bootstrap`] binds the predefined roles in every namespace; [`sync`] creates a namespace for each
//! project of a cluster and a role binding for each role that users have there. Both state what they
//! want; [`reconcile`] compares it with the cluster and applies the difference. [`enrolment`] is the
//! exception: it runs once, for a user who asks, with a certificate of this user.
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests start servers and clients beside them, wait, and read the real time"
    )
)]
pub mod bootstrap;
pub mod enrolment;
pub mod reconcile;
pub mod sync;
