//! The layout around pages: the bar at the top, and a cluster's navigation.
mod cluster;
mod cluster_switcher;
mod frame;
mod help;
mod operations;
mod palette;
mod reauthenticate;
mod topbar;

pub use cluster::ClusterFrame;
pub use frame::Frame;
