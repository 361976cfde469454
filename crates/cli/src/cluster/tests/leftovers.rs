use super::Machine;
use super::stand_in::{CLUSTER, StandIn, cluster};

#[tokio::test]
async fn leftovers_of_a_project_need_no_cluster_and_those_of_one_not_before_its_deletion() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    let ran = machine.run(&cloud, &["leftovers"], None).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    // this cloud has no Cinder, Octavia and Neutron
    for part in [
        "The volumes were not checked",
        "The load balancers were not checked",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    let ran = machine.run(&cloud, &["leftovers", CLUSTER], None).await;
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(ran.err.contains("delete it first"), "{}", ran.err);
}
