//! The declarative specification of a cluster, and its other forms: Magnum's request, and the command
//! line. Each is made from the specification and read back into it.
//!
//! The file (`apiVersion: portico.dev/v1alpha1`, `kind: Cluster`) is YAML or JSON; the caller parses it
//! into a [`serde_json::Value`] and writes YAML from one.
mod command_line;
mod document;
mod effective;
mod labels_of_fields;
mod request;
mod taint;
mod validation;

pub use command_line::{CommandLine, CommandLineError, REASON_ANNOTATION};
pub use document::{
    Api, ClusterDocument, ClusterSpec, ControlPlane, DEFAULT_GROUP, DocumentKind, DocumentVersion,
    ExistingNetwork, Exposure, Metadata, Network, NodeGroupSpec, Provider, ProviderKind, SpecError,
};
pub use effective::{DEFAULT_CREATE_TIMEOUT_MINUTES, Effective, effective};
pub use labels_of_fields::{all as request_labels, field_of as field_of_label};
pub use request::{ReadRequest, create_request, node_group_request, read_create_request};
pub use taint::{Taint, TaintError};
pub use validation::{Problem, validate};
