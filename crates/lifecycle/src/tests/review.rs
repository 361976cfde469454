//! Reviews of creations.
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::examples::{NEWEST, template};
use crate::{
    labels::Origin,
    preflight::Level,
    quota::{FlavorSize, Limit, Resource, Usage, Usages},
    review::{Review, ReviewContext, review},
    spec::ClusterDocument,
};

fn reviewed(spec: Value, flavors: &[(&str, FlavorSize)], usages: &Usages) -> Review {
    let document = ClusterDocument::read(json!({
        "apiVersion": "portico.dev/v1alpha1",
        "kind": "Cluster",
        "metadata": { "name": "shop" },
        "spec": spec,
    }))
    .unwrap();
    let flavors: BTreeMap<_, _> = flavors
        .iter()
        .map(|(name, size)| ((*name).to_owned(), *size))
        .collect();
    review(&ReviewContext {
        document: &document,
        template: &template("k8s-1.31", "v1.31.0"),
        cloud: NEWEST,
        usages,
        flavors: &flavors,
        same_name: &[],
        is_permitted: None,
        has_conductor: None,
        free_addresses: None,
        client: None,
    })
}

fn usages(entries: &[(Resource, u64, u64)]) -> Usages {
    let usage = |(resource, used, limit): &(Resource, u64, u64)| {
        let limit = Limit::Max(*limit);
        (*resource, Usage { used: *used, limit })
    };
    entries.iter().map(usage).collect()
}

fn sentences(review: &Review) -> Vec<String> {
    let projections = review.projections.iter();
    projections
        .map(|projection| projection.sentence())
        .collect()
}

#[test]
fn a_review_has_the_quotas_now_and_after_the_labels_and_the_request() {
    let size = FlavorSize {
        vcpus: 2,
        ram_mib: 4096,
    };
    let flavors = [("m1.small", size), ("m1.medium", size)];
    let usages = usages(&[(Resource::Clusters, 1, 20), (Resource::Cores, 10, 100)]);
    let spec = json!({
        "template": "k8s-1.31",
        "labels": { "kube_tag": "v1.31.2" },
        "nodeGroups": [{ "name": "default-worker", "replicas": 3 }],
    });
    let review = reviewed(spec, &flavors, &usages);
    let sentences = sentences(&review);
    for sentence in [
        "1 of 20 clusters used; 1 more needed.",
        "10 of 100 cores used; 8 more needed.",
    ] {
        assert!(
            sentences.iter().any(|one| one == sentence),
            "{sentence}: {sentences:?}"
        );
    }
    let label = review.labels.iter().find(|row| row.key == "kube_tag");
    assert_eq!(label.unwrap().origin, Origin::Overridden);
    // names are resolved here, and not by Magnum
    assert_eq!(review.request["cluster_template_id"], "uuid-of-k8s-1.31");
    assert_eq!(review.request["merge_labels"], true);
    assert_eq!(review.request["node_count"], 3);
    assert!(review.command.starts_with("portico cluster create shop"));
    assert!(review.refusals().is_empty(), "{:?}", review.checks);
}

#[test]
fn without_the_sizes_of_flavors_only_the_cluster_is_counted() {
    let usages = usages(&[(Resource::Clusters, 20, 20)]);
    let review = reviewed(json!({ "template": "k8s-1.31" }), &[], &usages);
    assert_eq!(
        sentences(&review),
        ["20 of 20 clusters used; 1 more needed, 1 too many."]
    );
    let refusals = review.refusals();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert_eq!(refusals[0].subject, "Quota");
}

#[test]
fn what_blocks_is_listed_with_its_subject() {
    let spec = json!({ "template": "k8s-1.31", "controlPlane": { "replicas": 2 } });
    let review = reviewed(spec, &[], &Usages::new());
    let refusals = review.refusals();
    assert!(refusals.iter().all(|check| check.level == Level::Blocks));
    assert_eq!(refusals[0].subject, "Specification");
}
