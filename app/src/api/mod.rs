//! Server functions, one file per noun: each calls the panel of the request and returns its result.
pub mod access;
pub mod apps;
pub mod authentication;
pub mod cluster_care;
pub mod cluster_nodes;
pub mod cluster_repairs;
pub mod cluster_templates;
pub mod clusters;
pub mod creation;
pub mod lifecycle;
pub mod manifests;
pub mod namespaces;
pub mod objects;
pub mod resources;
pub mod session;

mod call;
mod client;
mod notice;

pub use crate::codec::Json;
pub use client::{PanelClient, set_csrf_token, set_project};
pub use notice::FormNotice;

#[cfg(feature = "ssr")]
mod answer;
#[cfg(feature = "ssr")]
use answer::{answer, back_to_part, back_with_notice, panel};
