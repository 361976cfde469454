//! What needs attention, and when.
use crate::stack::Stack;
use app::ports::Panel;
use portico_domain::panel::{Attention, Health};
use std::time::Duration;

#[tokio::test]
async fn finding_p19_replicas_just_asked_for_need_no_attention_until_their_deadline() {
    let stack = Stack::open();
    let own = stack.namespace("starts").await;
    own.unready_deployment(2, 20).await;
    let vera = stack.panel("vera").await;
    let troubles = async || {
        let all = vera.cluster(stack.acme(), true).await.unwrap().attention;
        let is_own = |item: &Attention| {
            let object = item.object.as_ref();
            object.and_then(|object| object.namespace.as_ref()) == Some(&own.name)
        };
        all.into_iter().filter(is_own).collect::<Vec<_>>()
    };
    assert_eq!(troubles().await, []);
    let late = async {
        loop {
            let found = troubles().await;
            if !found.is_empty() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(60), late)
        .await
        .expect("after the deadline it needs attention");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].health, Health::Failed);
    assert_eq!(found[0].title, "0 of 2 ready");
    own.done().await;
}
