//! The layout around pages: the bar at the top, and a cluster's navigation.
mod cluster;
mod frame;
mod topbar;

pub use cluster::ClusterFrame;
pub use frame::Frame;
