//! `[gateway.cluster_list]`: the signed list of enrolled clusters.
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[gateway.cluster_list]`: publishes the clusters that users enrolled, for kube-auth. Needs a
/// store on SQLite or PostgreSQL.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterListConfig {
    /// Ed25519 key (PKCS#8 PEM) that signs the list, not the one of `assertion_key_file`: it
    /// decides which clusters kube-auth serves. Its public key is in
    /// `kube_auth.cluster_list.keys_file`.
    pub signing_key_file: PathBuf,
    /// The token that kube-auth must present to get the list, which names the clusters of all
    /// tenants: the same as in `kube_auth.cluster_list.token_file`, at least 32 characters. Read at
    /// the start.
    pub token_file: PathBuf,
}
