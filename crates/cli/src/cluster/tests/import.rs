use super::Machine;
use super::stand_in::{CLUSTER, PROJECT, StandIn, cluster};
use rcgen::{CertificateParams, KeyPair};

async fn cloud() -> StandIn {
    StandIn::with(vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")]).await
}

#[tokio::test]
async fn direct_access_enrols_nothing_and_names_the_session() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    for words in [["import", "shop"], ["import", "--all"]] {
        let ran = machine.run(&cloud, &words, None).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        for part in [
            "nothing was sent",
            "portico login URL",
            "on its page in the panel",
        ] {
            assert!(ran.err.contains(part), "{part}: {}", ran.err);
        }
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn a_foreign_cluster_is_a_line_for_the_operator() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let key = KeyPair::generate().unwrap();
    let pem = CertificateParams::default()
        .self_signed(&key)
        .unwrap()
        .pem();
    let path = machine.file("lab.crt", &pem);
    let server = "https://203.0.113.7:6443";
    let words = ["import", "--server", server, "--ca", &path, "--name", "lab"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 13, "{}", ran.err);
    let line = format!(
        "portico --config portico.toml enrolment import --name lab --server {server} --ca lab.crt \
         --owner-project {PROJECT}\n"
    );
    assert!(ran.out.starts_with(&line), "{}", ran.out);
    assert!(
        ran.err.contains("an operator of Portico imports it"),
        "{}",
        ran.err
    );
    let words = ["import", "--server", "lab", "--ca", &path, "--name", "lab"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
}
