//! The stack's drivers: each template has the family that is configured for its driver, and what a driver
//! ignores, or what would damage a cluster, is not sent.
use crate::service_proxy::Rules;
use crate::tenant::{CLUSTER_API, FULL, HEAT, Tenant, cluster};
use portico_cluster_operations::{Drivers, mapping};
use portico_lifecycle::capabilities::{Feature, Support, capability};
use portico_lifecycle::driver::{ApiVersion, Cloud, Driver, Evidence, Family};
use std::collections::BTreeMap;

/// The template of the driver whose clusters answer.
const LOCAL: &str = "kubernetes-local";
/// The stack's Magnum.
const CLOUD: Cloud = Cloud {
    api: ApiVersion(14),
    release: Some(23),
};

/// Returns what the stack's configuration states.
fn configured() -> Drivers {
    let families = [
        ("k8s_sim_full", Family::Complete),
        ("k8s_sim_capi", Family::CapiHelm),
        ("k8s_sim_heat", Family::Heat),
    ];
    let families = families.map(|(name, family)| (name.to_owned(), family));
    Drivers::new(BTreeMap::from(families), CLOUD.release)
}

async fn driver_of(tenant: &Tenant, template: &str) -> Driver {
    mapping::template(&tenant.template(template).await, &configured()).driver
}

#[tokio::test]
async fn each_template_has_the_family_of_its_driver() {
    Tenant::run(|tenant| async move {
        for (template, family, evidence) in [
            (FULL, Family::Complete, Evidence::Configuration),
            (CLUSTER_API, Family::CapiHelm, Evidence::Configuration),
            (HEAT, Family::Heat, Evidence::Configuration),
            // no family has its operations, so it is not configured
            (LOCAL, Family::Unknown, Evidence::TemplateField),
        ] {
            let driver = driver_of(&tenant, template).await;
            assert_eq!(driver, Driver { family, evidence }, "{template}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_the_templates_drivers_ignore_is_not_offered() {
    Tenant::run(|tenant| async move {
        for (template, feature, support) in [
            (CLUSTER_API, Feature::ChosenNodes, Support::Ignored),
            (CLUSTER_API, Feature::UpgradeBatchSize, Support::Ignored),
            (CLUSTER_API, Feature::UpgradeOfOneGroup, Support::Ignored),
            (CLUSTER_API, Feature::RotateCa, Support::Damages),
            (HEAT, Feature::Upgrade, Support::Unsupported),
            (HEAT, Feature::ResizeMasters, Support::Unsupported),
            (LOCAL, Feature::RotateCa, Support::Damages),
        ] {
            let driver = driver_of(&tenant, template).await;
            let found = capability(driver, CLOUD, feature);
            assert_eq!(found.support, support, "{template}: {feature:?}");
            assert!(!found.is_offered(), "{template}: {feature:?}");
            let full = driver_of(&tenant, FULL).await;
            assert!(capability(full, CLOUD, feature).is_offered());
        }
    })
    .await;
}

#[tokio::test]
async fn taints_that_the_driver_ignores_are_not_sent() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("ignored");
        tenant.make_complete(&name, CLUSTER_API, &[]).await;
        let (person, proxy) = tenant.through(Rules::default()).await;
        let create = ["nodegroup", "create", &name, "gpu"];
        let words: Vec<_> = create
            .into_iter()
            .chain(["--taint", "gpu=true:NoSchedule"])
            .collect();
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        assert!(
            ran.err.contains("set them through Kubernetes"),
            "{}",
            ran.err
        );
        assert!(proxy.changes().is_empty());
        let words: Vec<_> = create.into_iter().chain(["--wait"]).collect();
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(proxy.changes().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_control_plane_that_the_driver_cannot_resize_is_not_sent() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("masters");
        tenant.make_complete(&name, HEAT, &[]).await;
        let (person, proxy) = tenant.through(Rules::default()).await;
        let words = ["resize", &name, "3", "-g", "default-master"];
        let ran = cluster(&person, &words).await;
        assert_eq!(ran.code, 13, "{}", ran.err);
        let text = "does not resize the control plane";
        assert!(ran.err.contains(text), "{}", ran.err);
        assert!(proxy.changes().is_empty());
    })
    .await;
}

#[tokio::test]
async fn the_option_precedes_the_variable_and_an_unknown_driver_is_not_asked_to_rotate() {
    Tenant::run(|tenant| async move {
        let name = tenant.name("option");
        tenant.make_complete(&name, FULL, &[]).await;
        let (person, proxy) = tenant.through(Rules::default()).await;
        let rotate = ["ca", "rotate", &name, "--yes", "--wait"];
        for (driver, text) in [
            ("k8s_sim_full=capi_helm", "The driver cannot rotate the CA"),
            // the variable describes k8s_sim_full, and does not apply beside the option
            ("k8s_acme=complete", "is not known to Portico"),
        ] {
            let words: Vec<_> = rotate
                .into_iter()
                .chain(["--magnum-driver", driver])
                .collect();
            let ran = cluster(&person, &words).await;
            assert_eq!(ran.code, 13, "{driver}: {}", ran.err);
            assert!(ran.err.contains(text), "{driver}: {}", ran.err);
        }
        assert!(proxy.changes().is_empty());
        let ran = cluster(&person, &rotate).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_eq!(proxy.changes().len(), 1);
    })
    .await;
}
