use super::Machine;
use super::stand_in::{CLUSTER, StandIn, cluster};

#[tokio::test]
async fn leftovers_of_a_project_need_no_cluster_and_those_of_one_not_before_its_deletion() {
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    let (machine, cloud) = (Machine::new(), StandIn::with(clusters).await);
    let ran = machine.run(&cloud, &["leftovers"], None).await;
    // this cloud has no Cinder, Octavia and Neutron
    assert_ran!("leftovers_of_a_project", ran);
    let ran = machine.run(&cloud, &["leftovers", CLUSTER], None).await;
    assert_ran!("leftovers_of_a_cluster_that_exists", ran);
}
