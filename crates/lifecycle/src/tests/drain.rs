//! What a drain does with pods.
use crate::drain::{DrainOptions, Fate, budget, ensure_drained, fate};
use serde_json::{Value, json};
use std::slice;

fn pod(owner: Option<&str>) -> Value {
    let owners = owner.map(|kind| json!([{"kind": kind, "controller": true}]));
    json!({"metadata": {"namespace": "shop", "name": "web", "ownerReferences": owners},
           "spec": {}, "status": {"phase": "Running"}})
}

fn of(pod: &Value, unmanaged: bool, local_data: bool) -> Fate {
    let options = DrainOptions {
        unmanaged,
        local_data,
    };
    fate(pod, options)
}

#[test]
fn what_would_be_lost_needs_the_user_and_what_is_of_the_node_stays() {
    assert!(matches!(
        of(&pod(Some("DaemonSet")), true, true),
        Fate::Stays(_)
    ));
    let mut mirror = pod(Some("Node"));
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
    assert!(matches!(of(&mirror, true, true), Fate::Stays(_)));
    assert!(matches!(of(&pod(None), false, true), Fate::NeedsUser(_)));
    assert_eq!(of(&pod(None), true, false), Fate::Evicted);
    let mut cache = pod(Some("ReplicaSet"));
    assert_eq!(of(&cache, false, false), Fate::Evicted);
    cache["spec"]["volumes"] = json!([{"name": "cache", "emptyDir": {}}]);
    assert!(matches!(of(&cache, false, false), Fate::NeedsUser(_)));
    assert_eq!(of(&cache, false, true), Fate::Evicted);
    cache["metadata"]["deletionTimestamp"] = json!("2026-11-28T00:00:00Z");
    assert_eq!(of(&cache, false, false), Fate::Terminating);
}

#[test]
fn a_node_is_drained_if_it_is_cordoned_and_runs_only_what_is_of_it() {
    let node = |is_cordoned: bool| json!({"metadata": {"name": "node-1"}, "spec": {"unschedulable": is_cordoned}});
    let daemon = pod(Some("DaemonSet"));
    assert_eq!(
        ensure_drained(&node(true), slice::from_ref(&daemon)),
        Ok(())
    );
    let not_cordoned = ensure_drained(&node(false), slice::from_ref(&daemon)).unwrap_err();
    assert!(not_cordoned.contains("not cordoned"), "{not_cordoned}");
    let web = pod(Some("ReplicaSet"));
    let running = ensure_drained(&node(true), &[daemon, web]).unwrap_err();
    assert!(running.ends_with("it still runs shop/web."), "{running}");
}

#[test]
fn a_refused_eviction_names_the_budget() {
    let answer = json!({"message": "Cannot evict pod as it would violate the pod's disruption budget.",
        "details": {"causes": [{"reason": "DisruptionBudget",
            "message": "The disruption budget web needs 1 healthy pods and has 1 currently"}]}});
    assert_eq!(
        budget(&answer),
        "The disruption budget web needs 1 healthy pods and has 1 currently."
    );
    assert!(budget(&Value::Null).starts_with("A PodDisruptionBudget"));
}
