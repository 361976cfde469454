//! The search over kinds at a real API server.
use crate::stack::Stack;
use app::{error::UiErrorKind, ports::Panel};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, api::PostParams};
use portico_domain::panel::SearchAnswer;
use serde_json::json;
use std::time::{Duration, Instant};

/// Searches until every kind was read in time, as a busy machine may need several attempts. Each ends
/// in time.
async fn complete(stack: &Stack, panel: &impl Panel, text: &str) -> SearchAnswer {
    for _ in 0..12 {
        let start = Instant::now();
        let answer = panel.search(stack.acme(), text.to_owned()).await.unwrap();
        assert!(start.elapsed() < Duration::from_secs(5));
        assert!(answer.failures.is_empty(), "{answer:?}");
        if answer.late.is_empty() {
            return answer;
        }
    }
    panic!("no search was complete");
}

#[tokio::test]
async fn objects_are_found_by_their_names_in_the_namespaces_of_the_user() {
    let stack = Stack::open();
    let own = stack.namespace("search").await;
    let word = own.name.rsplit('-').next().unwrap().to_owned();
    own.pod(&format!("web-{word}")).await;
    own.pod(&word).await;
    let object = json!({ "metadata": { "name": format!("x{word}") } });
    Api::<ConfigMap>::namespaced(own.client.clone(), &own.name)
        .create(
            &PostParams::default(),
            &serde_json::from_value(object).unwrap(),
        )
        .await
        .unwrap();
    for user in ["vera", "ada"] {
        let panel = stack.panel(user).await;
        let answer = complete(&stack, &panel, &word.to_uppercase()).await;
        let hits: Vec<_> = answer
            .hits
            .iter()
            .map(|hit| (hit.kind.as_str(), hit.object.name.as_str()))
            .filter(|(kind, _)| *kind != "Namespace")
            .collect();
        let (web, part) = (format!("web-{word}"), format!("x{word}"));
        assert_eq!(
            hits,
            [("Pod", &*word), ("Pod", &*web), ("ConfigMap", &*part)],
            "{user}"
        );
    }
    // in kube-system, where vera may list nothing
    for (user, finds) in [("vera", false), ("ada", true)] {
        let panel = stack.panel(user).await;
        let text = "kube-system/extension-apiserver".to_owned();
        let answer = complete(&stack, &panel, &text).await;
        assert_eq!(!answer.hits.is_empty(), finds, "{user}");
    }
    let short = stack.panel("vera").await;
    let error = short
        .search(stack.acme(), "w".to_owned())
        .await
        .unwrap_err();
    assert_eq!(error.kind, UiErrorKind::Invalid);
    own.done().await;
}
