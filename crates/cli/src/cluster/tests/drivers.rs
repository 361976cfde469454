use super::stand_in::{CLUSTER, StandIn, TEMPLATE, cluster, error};
use super::{Machine, Program};
use clap::{CommandFactory as _, Parser as _};
use portico_lifecycle::driver::Family;
use serde_json::{Value, json};

/// The driver in the template of the stand-in.
const DRIVER: &str = "k8s_fedora_coreos_v1";

async fn cloud() -> StandIn {
    StandIn::with(vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")]).await
}

#[test]
fn drivers_are_described_by_options() {
    let words = [
        "portico",
        "list",
        "--magnum-driver",
        "k8s_acme=complete,k8s_other=heat",
        "--magnum-driver",
        "k8s_third=cluster_api",
        "--magnum-release",
        "20",
    ];
    let program = Program::try_parse_from(words).unwrap();
    let drivers = program.cluster.command.shared().drivers();
    let families = drivers.families().iter();
    let families: Vec<_> = families
        .map(|(name, family)| (name.as_str(), *family))
        .collect();
    let expected = [
        ("k8s_acme", Family::Complete),
        ("k8s_other", Family::Heat),
        ("k8s_third", Family::ClusterApi),
    ];
    assert_eq!(families, expected);
    assert_eq!(drivers.release, Some(20));
}

#[test]
fn the_help_lists_all_families() {
    let program = Program::command();
    let list = program.find_subcommand("list").unwrap();
    let mut options = list.get_arguments();
    let option = options.find(|one| one.get_long() == Some("magnum-driver"));
    let help = option.unwrap().get_help().unwrap().to_string();
    assert!(help.contains(&Family::words()), "{help}");
}

#[test]
fn empty_values_are_as_none() {
    // clap reads options and their variables alike
    let words = [
        "portico",
        "list",
        "--magnum-driver",
        "",
        "--magnum-release",
        "",
    ];
    let program = Program::try_parse_from(words).unwrap();
    let drivers = program.cluster.command.shared().drivers();
    assert!(drivers.families().is_empty());
    assert_eq!(drivers.release, None);
}

#[test]
fn an_invalid_description_of_a_driver_names_the_families() {
    for value in [
        "k8s_acme",
        "k8s_acme=",
        "=heat",
        "k8s_acme=unknown",
        "k8s_acme=heat,",
    ] {
        let words = ["portico", "list", "--magnum-driver", value];
        let Err(error) = Program::try_parse_from(words) else {
            panic!("{value} is accepted");
        };
        let text = "heat, capi_helm, cluster_api or complete";
        assert!(error.to_string().contains(text), "{error}");
    }
    for release in ["0", "2025", "2025.1"] {
        let words = ["portico", "list", "--magnum-release", release];
        assert!(Program::try_parse_from(words).is_err(), "{release}");
    }
}

#[tokio::test]
async fn what_would_damage_the_configured_family_is_not_sent() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let family = format!("{DRIVER}=capi_helm");
    let words = ["ca", "rotate", "shop", "--yes", "--magnum-driver", &family];
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("rotation_that_would_damage", ran);
    assert!(cloud.calls().is_empty());
    // by its name it is a Heat driver, which rotates the CA
    let words = ["ca", "rotate", "shop", "--yes"];
    machine.run(&cloud, &words, None).await;
    assert_eq!(cloud.calls().len(), 1, "{:?}", cloud.calls());
}

#[tokio::test]
async fn the_release_decides_whether_a_heat_driver_upgrades() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    let upgrade = ["upgrade", "shop", "--to", "small", "-o", "json"];
    for (release, is_refused) in [(None, true), (Some("17"), false), (Some("18"), true)] {
        let option = release.map(|release| ["--magnum-release", release]);
        let words: Vec<_> = upgrade
            .into_iter()
            .chain(option.into_iter().flatten())
            .collect();
        let ran = machine.run(&cloud, &words, None).await;
        let text = "refuses upgrades since Magnum 18";
        assert_eq!(
            ran.out.contains(text),
            is_refused,
            "{release:?}: {}",
            ran.out
        );
    }
    assert!(cloud.calls().is_empty());
}

#[tokio::test]
async fn a_batch_size_is_refused_where_the_driver_ignores_it() {
    let (machine, cloud) = (Machine::new(), cloud().await);
    for family in ["capi_helm", "complete"] {
        let driver = format!("{DRIVER}={family}");
        let words = [
            "upgrade",
            "shop",
            "--to",
            "small",
            "--max-batch-size",
            "2",
            "--magnum-driver",
            &driver,
        ];
        // this machine has no access to the inside of the cluster
        let ran = machine.run(&cloud, &words, None).await;
        assert_ran!(format!("upgrade_in_batches_with_{family}"), ran);
    }
    assert!(cloud.calls().is_empty());
}

/// Returns a cloud whose template has this answer.
async fn cloud_with_template(status: u16, body: &Value) -> StandIn {
    let body = body.clone();
    let clusters = vec![cluster(CLUSTER, "shop", "CREATE_COMPLETE")];
    StandIn::start(clusters, move |request, _| {
        let is_template = request.path == format!("clustertemplates/{TEMPLATE}");
        is_template.then(|| (status, body.clone()))
    })
    .await
}

#[tokio::test]
async fn an_outage_while_the_template_is_read_is_not_taken_for_an_unknown_driver() {
    let machine = Machine::new();
    let cloud = cloud_with_template(503, &json!("<html></html>")).await;
    for words in [
        &["ca", "rotate", "shop", "--yes"][..],
        &["resize", "shop", "3", "--yes"],
        &["export", "shop"],
    ] {
        let ran = machine.run(&cloud, words, None).await;
        assert_eq!(ran.code, 11, "{words:?}: {} {}", ran.out, ran.err);
        assert!(ran.err.contains("unavailable"), "{words:?}: {}", ran.err);
    }
    // what is only shown does not need it
    let ran = machine.run(&cloud, &["show", "shop"], None).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(cloud.calls().is_empty(), "{:?}", cloud.calls());
}

#[tokio::test]
async fn nothing_is_rotated_where_the_template_was_deleted() {
    let machine = Machine::new();
    let cloud = cloud_with_template(404, &error("ClusterTemplate could not be found.")).await;
    let words = ["ca", "rotate", "shop", "--yes"];
    let ran = machine.run(&cloud, &words, None).await;
    assert_ran!("rotation_without_the_template", ran);
    assert!(cloud.calls().is_empty());
}
