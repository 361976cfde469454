//! Lists of workloads, whose cells do not show that replicas were requested only just now: the
//! counts and the filter of statuses agree with the rows.
use crate::{
    own_namespace::OwnNamespace,
    queries::{FIRST_ROWS, query, watch},
    stack::Stack,
    tab::{ask, tab_at, until},
};
use app::ports::Panel;
use portico_domain::{
    panel::{Health, ListQuery, ResourceRef, StatusCount},
    stream::Message,
};

const ID: u32 = 1;

fn of_status(own: &OwnNamespace, health: Health) -> ListQuery {
    ListQuery {
        status: vec![health.words().to_owned()],
        ..query(ResourceRef::new("apps", "v1", "deployments"), &[&own.name])
    }
}

fn one(health: Health) -> Vec<StatusCount> {
    vec![StatusCount {
        status: health.words().to_owned(),
        health: Some(health),
        count: 1,
    }]
}

#[tokio::test]
async fn the_counts_and_the_filter_of_workloads_agree_with_the_health_of_their_rows() {
    let stack = Stack::open();
    let own = stack.namespace("statuses").await;
    own.unready_deployment(1, 600).await;
    let vera = stack.panel("vera").await;
    for (status, rows) in [(Health::Failed, 0), (Health::Progressing, 1)] {
        let query = of_status(&own, status);
        let list = vera.list(stack.acme(), query.clone(), FIRST_ROWS).await;
        let list = list.unwrap();
        assert_eq!(list.statuses, one(Health::Progressing), "{status:?}");
        assert_eq!(list.window.rows.len(), rows, "{status:?}");
        assert_eq!(list.window.total, rows, "{status:?}");
        // a change of all rows concerns those that are shown
        let selection = vera.select(stack.acme(), query).await.unwrap();
        assert_eq!(selection.total, rows, "{status:?}");
    }
    own.done().await;
}

#[tokio::test]
async fn a_row_leaves_a_live_list_when_its_health_turns_out_to_be_another() {
    let stack = Stack::open();
    let own = stack.namespace("statuses").await;
    own.unready_deployment(1, 600).await;
    let address = stack.serve().await;
    let mut tab = tab_at(&stack, &address, "vera").await;
    ask(
        &mut tab,
        &watch(&stack, ID, of_status(&own, Health::Failed)),
    )
    .await;
    // at first the health of its cells, which all viewers share
    let uid = until(&mut tab, |message| match message {
        Message::Snapshot {
            mut window,
            statuses,
            ..
        } => {
            assert_eq!(statuses, one(Health::Failed));
            Some(window.rows.remove(0).uid)
        }
        _ => None,
    })
    .await;
    let (order, statuses) = until(&mut tab, |message| match message {
        Message::Rows {
            order: Some(order),
            statuses,
            total: 0,
            ..
        } => Some((order, statuses)),
        _ => None,
    })
    .await;
    assert!(!order.contains(&uid));
    assert_eq!(statuses, Some(one(Health::Progressing)));
    own.done().await;
}
