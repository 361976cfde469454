//! Clusters for the tests.
use jiff::Timestamp;
use portico_cluster_operations::{Drivers, mapping};
use portico_lifecycle::model::Cluster;
use portico_openstack::magnum;
use serde_json::{Value, json};
use uuid::Uuid;

pub const CLUSTER: Uuid = Uuid::from_u128(0x900e_3758_8071_430e_a8cf_5c48_f428_dc0e);
/// The time of tests whose clusters have no other.
pub const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);
pub const TEMPLATE: &str = "f7617ea3-8060-4dd2-9479-e441e1a40404";

/// Returns a cluster of ada in the project `acme`, as Magnum writes it.
pub fn json(status: &str) -> Value {
    json!({"uuid": CLUSTER, "name": "shop", "status": status, "project_id": "acme", "user_id": "ada",
           "cluster_template_id": TEMPLATE, "master_count": 1, "node_count": 2, "keypair": "ops",
           "flavor_id": "m1.small", "master_flavor_id": "m1.medium", "labels": {"kube_tag": "v1.31.0"},
           "stack_id": "6e03b504-1563-4dc7-9cda-eaeed562ea66", "coe_version": "v1.31.0",
           "api_address": "https://192.0.2.10:6443", "health_status": "HEALTHY",
           "created_at": "2026-11-21T11:13:55+00:00", "updated_at": "2026-11-21T11:14:00+00:00"})
}

/// Returns the same with other fields.
pub fn with(status: &str, change: Value) -> magnum::Cluster {
    let mut cluster = json(status);
    for (key, value) in change.as_object().unwrap() {
        cluster[key] = value.clone();
    }
    serde_json::from_value(cluster).unwrap()
}

/// Returns the same, as the engine has it.
pub fn model(status: &str) -> Cluster {
    mapping::cluster(&with(status, json!({})), None, &Drivers::default())
}
