//! Versions of Kubernetes.
use crate::{
    driver::Family,
    tests::examples::{driver, template},
    version::{KubernetesVersion, Move},
};

fn version(text: &str) -> KubernetesVersion {
    text.parse().unwrap()
}

#[test]
fn versions_are_read_with_and_without_decoration() {
    for text in ["v1.32.1", "1.32.1", "v1.32.1-rancher1", "v1.32.1+k3s1"] {
        assert_eq!(version(text).to_string(), "v1.32.1", "{text}");
    }
    for text in ["", "v1.32", "v1", "v1.32.x", "v1.32.1.4", "latest"] {
        assert!(text.parse::<KubernetesVersion>().is_err(), "{text}");
    }
}

#[test]
fn only_one_minor_version_at_a_time_can_follow() {
    for (from, to, expected) in [
        ("v1.31.0", "v1.31.0", Move::Same),
        ("v1.31.0", "v1.31.4", Move::Patch),
        ("v1.31.4", "v1.32.0", Move::Minor),
        ("v1.27.3", "v1.31.1", Move::Skips),
        ("v1.31.1", "v2.0.0", Move::Skips),
        ("v1.31.1", "v1.31.0", Move::Back),
        ("v1.31.1", "v1.30.9", Move::Back),
    ] {
        assert_eq!(version(from).step_to(version(to)), expected, "{from} {to}");
    }
}

#[test]
fn the_version_of_a_template_is_where_its_driver_reads_it() {
    let mut template = template("k8s", "v1.31.0");
    template.image_version = Some("1.32.0".to_owned());
    assert_eq!(template.kubernetes_version(), Some(version("v1.31.0")));
    template.driver = driver(Family::CapiHelm);
    assert_eq!(template.kubernetes_version(), Some(version("v1.32.0")));
    template.image_version = None;
    assert_eq!(template.kubernetes_version(), None);
}
