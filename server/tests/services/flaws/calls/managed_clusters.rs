//! Requests about clusters of Magnum and their templates.
use super::{Call, answered, changes, form, reads};
use serde_json::json;

/// The functions about clusters of Magnum. The panel of these tests has no access to one, and answers so
/// before anything else.
pub fn of_clusters(cluster: &str) -> Vec<Call> {
    let new = json!({ "name": "shop", "template": "kubernetes" });
    let attempt = "00000000-0000-4000-8000-000000000000";
    let one = json!({ "cluster": cluster });
    let resize =
        json!({ "resize": { "group": "gpu", "from": 1, "nodes": 2, "min": null, "max": null } });
    let unavailable = |call| answered(503, call);
    vec![
        unavailable(form("/api/managed_clusters/list", false, &[])),
        unavailable(form("/api/managed_clusters/options", false, &[])),
        unavailable(form("/api/managed_clusters/usage", false, &[])),
        reads(
            "/api/managed_clusters/read_file",
            json!({ "text": "kind: Cluster" }),
        ),
        unavailable(reads(
            "/api/managed_clusters/review",
            json!({ "form": new }),
        )),
        changes(
            "/api/managed_clusters/create",
            json!({ "form": new, "attempt": attempt }),
        ),
        changes("/api/managed_clusters/continue", one.clone()),
        changes(
            "/api/managed_clusters/dismiss",
            json!({ "attempt": attempt }),
        ),
        unavailable(reads(
            "/api/managed_clusters/progress",
            json!({ "cluster": cluster, "version": null }),
        )),
        unavailable(reads(
            "/api/managed_clusters/inventory",
            json!({ "cluster": cluster, "options": {} }),
        )),
        changes(
            "/api/managed_clusters/delete",
            json!({ "cluster": cluster, "typed": "shop", "options": {}, "reason": "CHG-12" }),
        ),
        unavailable(reads(
            "/api/managed_clusters/leftovers",
            json!({ "cluster": cluster, "record": null }),
        )),
        changes(
            "/api/managed_clusters/enrol",
            json!({ "cluster": cluster, "reason": "CHG-12" }),
        ),
        changes("/api/managed_clusters/remove_record", one.clone()),
        unavailable(reads("/api/managed_clusters/node_groups", one.clone())),
        unavailable(reads(
            "/api/managed_clusters/review_node_group",
            json!({ "cluster": cluster, "change": resize }),
        )),
        changes(
            "/api/managed_clusters/change_node_group",
            json!({ "cluster": cluster, "change": resize, "reason": "" }),
        ),
        unavailable(reads("/api/managed_clusters/nodes", one.clone())),
        unavailable(reads(
            "/api/managed_clusters/review_node_removal",
            json!({ "cluster": cluster, "server": attempt }),
        )),
        changes(
            "/api/managed_clusters/remove_node",
            json!({ "cluster": cluster, "reason": "",
                "node": { "server": attempt, "typed": "node-1", "accepted_pods": [] } }),
        ),
        changes(
            "/api/managed_clusters/begin_node_drain",
            json!({ "cluster": cluster, "server": attempt, "reason": "",
                "options": { "unmanaged": false, "local_data": false } }),
        ),
        changes(
            "/api/managed_clusters/continue_node_drain",
            json!({ "cluster": cluster, "server": attempt,
                "options": { "unmanaged": false, "local_data": false } }),
        ),
        changes(
            "/api/managed_clusters/stop_node_drain",
            json!({ "cluster": cluster, "server": attempt, "uncordon": true }),
        ),
        unavailable(reads(
            "/api/managed_clusters/review_node_replacement",
            json!({ "cluster": cluster, "server": attempt }),
        )),
        changes(
            "/api/managed_clusters/replace_node",
            json!({ "cluster": cluster, "server": attempt, "reason": "" }),
        ),
        changes(
            "/api/managed_clusters/replace_node_in_place",
            json!({ "cluster": cluster, "reason": "",
                "node": { "server": attempt, "typed": "node-1", "accepted_pods": [] } }),
        ),
        changes(
            "/api/managed_clusters/add_replacing_node",
            json!({ "cluster": cluster, "reason": "" }),
        ),
        changes("/api/managed_clusters/stop_node_replacement", one.clone()),
        unavailable(reads(
            "/api/managed_clusters/journal",
            json!({ "cluster": cluster, "before": null, "filter": { "text": "x" } }),
        )),
        unavailable(reads("/api/managed_clusters/configuration", one.clone())),
        unavailable(reads(
            "/api/managed_clusters/upgrade_options",
            json!({ "cluster": cluster, "template": null }),
        )),
        changes(
            "/api/managed_clusters/upgrade",
            json!({ "cluster": cluster, "template": attempt, "typed": "shop", "reason": "CHG-12",
                    "selection": { "group": "gpu", "max_batch_size": 2 } }),
        ),
        unavailable(reads("/api/managed_clusters/health", one.clone())),
        unavailable(reads("/api/managed_clusters/protection", one.clone())),
        changes(
            "/api/managed_clusters/set_protection",
            json!({ "cluster": cluster, "is_on": false, "typed": "shop", "reason": "CHG-12" }),
        ),
        unavailable(reads("/api/managed_clusters/settlement", one.clone())),
        changes(
            "/api/managed_clusters/settle",
            json!({ "cluster": cluster, "reason": "",
                "reviewed": { "group": "default-worker", "nodes": 1 } }),
        ),
        unavailable(reads("/api/managed_clusters/change_queue", one.clone())),
        changes(
            "/api/managed_clusters/queue_change",
            json!({ "cluster": cluster, "change": resize, "reason": "" }),
        ),
        changes(
            "/api/managed_clusters/continue_change",
            json!({ "cluster": cluster, "id": "x" }),
        ),
        changes(
            "/api/managed_clusters/discard_change",
            json!({ "cluster": cluster, "id": "x" }),
        ),
        unavailable(reads("/api/managed_clusters/ownership", one.clone())),
        changes(
            "/api/managed_clusters/rotate_credential",
            json!({ "cluster": cluster, "typed": "shop", "reason": "" }),
        ),
        unavailable(reads("/api/managed_clusters/certificates", one)),
        changes(
            "/api/managed_clusters/sign_certificate",
            json!({ "cluster": cluster, "request": "-----BEGIN CERTIFICATE REQUEST-----",
                "reason": "CHG-12" }),
        ),
        changes(
            "/api/managed_clusters/rotate_ca",
            json!({ "cluster": cluster, "typed": "shop", "reason": "CHG-12" }),
        ),
    ]
}

/// The functions about cluster templates, in the same way.
pub fn of_templates() -> Vec<Call> {
    let template = "00000000-0000-4000-8000-000000000000";
    let values = json!({ "name": "copy", "image": "ubuntu", "flavor": "", "control_plane_flavor": "",
        "keypair": "", "external_network": "", "network": "", "subnet": "", "labels": {} });
    let unavailable = |call| answered(503, call);
    vec![
        unavailable(form("/api/managed_clusters/templates", false, &[])),
        unavailable(reads(
            "/api/managed_clusters/template",
            json!({ "template": template }),
        )),
        changes(
            "/api/managed_clusters/copy_template",
            json!({ "template": template, "values": values }),
        ),
        changes(
            "/api/managed_clusters/set_template_flag",
            json!({ "template": template, "flag": "public", "is_on": true }),
        ),
        changes(
            "/api/managed_clusters/delete_template",
            json!({ "template": template, "typed": "copy" }),
        ),
    ]
}
