//! Files that describe a cluster: applied to one that differs, applied twice, and in place of options.
use crate::service_proxy::{Received, Rules};
use crate::tenant::{FULL, Tenant, cluster, create};
use portico_lifecycle::idempotency::MARKER_LABEL;
use serde_json::{Value, json};

#[tokio::test]
async fn case_56_another_flavor_is_a_difference_that_is_not_applied() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("flavor");
        let made = tenant.make_complete(&name, FULL, &[]).await;
        let (person, proxy) = tenant.through(Rules::default()).await;
        let file = json!({
            "apiVersion": "portico.dev/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
            "spec": {"template": FULL, "controlPlane": {"flavor": "m1.large"},
                     "nodeGroups": [{"name": "default-worker", "replicas": 2}]},
        });
        let path = person.write("shop.yaml", &file.to_string()).unwrap();
        let path = path.to_str().unwrap();
        let ran = cluster(&person, &["apply", "-f", path]).await;
        assert_eq!(ran.code, 4, "{}", ran.err);
        let field = "spec.controlPlane.flavor: m1.medium -> m1.large";
        assert!(ran.err.contains(field), "{}", ran.err);
        let ran = cluster(&person, &["diff", "-f", path]).await;
        assert_eq!(ran.code, 1, "{}", ran.err);
        assert!(proxy.changes().is_empty());
        let after = &tenant.named(&name).await[0];
        assert_eq!((&after.status, after.node_count), (&made.status, Some(1)));
    })
    .await;
}

#[tokio::test]
async fn case_57_a_file_that_is_applied_twice_sends_nothing_the_second_time() {
    Tenant::run(|tenant| async move {
        let (person, proxy) = tenant.through(Rules::default()).await;
        let name = tenant.name("applied");
        let words = create(&name, &["--dry-run", "-o", "yaml"]);
        let printed = cluster(&person, &words).await;
        assert_eq!(printed.code, 0, "{}", printed.err);
        let path = person.write("shop.yaml", &printed.out).unwrap();
        let words = ["apply", "-f", path.to_str().unwrap()];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(proxy.changes().len(), 1, "{:?}", proxy.changes());
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.err.contains("Nothing to change."), "{}", ran.err);
        assert_eq!(proxy.changes().len(), 1, "{:?}", proxy.changes());
        assert_eq!(tenant.named(&name).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn case_58_options_and_their_printed_file_make_the_same_request() {
    Tenant::run(|tenant| async move {
        let (person, proxy) = tenant.through(Rules::default()).await;
        let name = tenant.name("same");
        let printed = cluster(&person, &create(&name, &["--dry-run", "-o", "yaml"])).await;
        assert_eq!(printed.code, 0, "{}", printed.err);
        let path = person.write("shop.yaml", &printed.out).unwrap();
        let by_options = create(&name, &["--no-wait"]);
        let by_file = ["create", "-f", path.to_str().unwrap(), "--no-wait"];
        for words in [&by_options[..], &by_file[..]] {
            let ran = cluster(&person, words).await;
            assert_eq!(ran.code, 0, "{}", ran.err);
        }
        let changes = proxy.changes();
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert_eq!(unmarked(&changes[0]), unmarked(&changes[1]));
    })
    .await;
}

/// Returns the body of a creation without the marker, which differs.
fn unmarked(request: &Received) -> Value {
    let mut body = request.body.clone();
    let labels = body["labels"].as_object_mut().unwrap();
    assert!(labels.remove(MARKER_LABEL).is_some());
    body
}
