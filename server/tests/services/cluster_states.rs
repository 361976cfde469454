//! The states of a project's clusters, in the choice of a cluster.
use crate::stack::Stack;
use app::ports::Panel;
use portico_domain::panel::Health;
use uuid::Uuid;

const GONE: Uuid = Uuid::from_u128(0x1a0d_1f6e_0f4b_4c11_8d59_6f3f_0f3a_0001);
const CLOSED: Uuid = Uuid::from_u128(0x1a0d_1f6e_0f4b_4c11_8d59_6f3f_0f3a_0002);

/// A stack whose project has a cluster that does not respond, and one that accepts none of its tokens.
fn with_more_clusters() -> Stack {
    Stack::open_with(|clusters| {
        let acme = clusters
            .iter()
            .find(|record| record.name == "acme-prod")
            .unwrap()
            .clone();
        let mut gone = acme.clone();
        gone.id = GONE;
        // the discard port: nothing listens
        gone.api_url = "https://127.0.0.1:9".to_owned();
        let mut closed = acme;
        closed.id = CLOSED;
        closed.accepted_projects = vec!["another".to_owned()];
        clusters.extend([gone, closed]);
    })
}

#[tokio::test]
async fn each_cluster_has_a_state_of_its_own() {
    let stack = with_more_clusters();
    let states = stack
        .panel("vera")
        .await
        .cluster_states(Vec::new())
        .await
        .unwrap();
    let of = |id| states.iter().find(|state| state.id == id).unwrap();
    assert!(matches!(
        of(stack.acme()).health,
        Health::Ok | Health::Warning
    ));
    assert_eq!(of(GONE).health, Health::Failed);
    assert_eq!(of(CLOSED).health, Health::Unknown);
    assert!(
        of(CLOSED).status.contains("does not accept sign-ins"),
        "{}",
        of(CLOSED).status
    );
}

#[tokio::test]
async fn only_the_named_clusters_of_the_project_are_read() {
    let stack = with_more_clusters();
    let other: Uuid = stack.var("CLUSTER2_ID").parse().unwrap();
    let states = stack
        .panel("vera")
        .await
        .cluster_states(vec![GONE, other])
        .await
        .unwrap();
    let ids: Vec<Uuid> = states.iter().map(|state| state.id).collect();
    assert_eq!(ids, [GONE], "another project's cluster is left out");
}
