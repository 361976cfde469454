//! The forms are interchangeable: each is read back into the same specification.
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::*,
};
use serde_json::Value;

use crate::{
    driver::Family,
    spec::{
        Api, ClusterDocument, ClusterSpec, CommandLine, ControlPlane, ExistingNetwork, Exposure,
        Metadata, Network, NodeGroupSpec, create_request, read_create_request,
    },
};

fn word() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_.-]{0,12}"
}

fn cidrs() -> impl Strategy<Value = Vec<String>> {
    vec(
        (1u8..224, 8u8..=24).prop_map(|(first, prefix)| format!("{first}.0.0.0/{prefix}")),
        0..3,
    )
}

prop_compose! {
    fn api()(
        exposure in option::of(prop_oneof![Just(Exposure::Public), Just(Exposure::Private)]),
        allowed_cidrs in cidrs(),
    ) -> Api {
        Api { exposure, allowed_cidrs }
    }
}

prop_compose! {
    fn default_worker()(replicas in 0u32..100, flavor in option::of(word())) -> NodeGroupSpec {
        NodeGroupSpec {
            name: "default-worker".to_owned(),
            replicas: Some(replicas),
            flavor,
            ..NodeGroupSpec::default()
        }
    }
}

prop_compose! {
    /// Everything that the request of a creation has.
    fn document()(
        name in word(),
        template in word(),
        texts in (option::of(word()), option::of(word()), option::of(word()), option::of(word())),
        numbers in (option::of(1u32..9), option::of(1u32..600), option::of(1u32..100)),
        flags in (option::of(any::<bool>()), option::of(any::<bool>())),
        existing in option::of((word(), option::of(word()))),
        api in api(),
        labels in btree_map("own_[a-z]{1,8}", "[ -~]{0,12}", 0..4),
        group in option::of(default_worker()),
    ) -> ClusterDocument {
        let (keypair, zone, flavor, discovery_url) = texts;
        let (replicas, create_timeout, docker_volume_size) = numbers;
        let (load_balancer, floating_ips) = flags;
        let existing = existing.map(|(network, subnet)| ExistingNetwork {
            network: Some(network),
            subnet,
        });
        let spec = ClusterSpec {
            template,
            keypair,
            zone,
            control_plane: ControlPlane { replicas, flavor, load_balancer },
            network: Network { existing, floating_ips },
            api,
            create_timeout,
            docker_volume_size,
            discovery_url,
            labels,
            node_groups: group.into_iter().collect(),
            ..ClusterSpec::default()
        };
        ClusterDocument::new(Metadata { name, ..Metadata::default() }, spec)
    }
}

proptest! {
    #[test]
    fn a_file_is_read_as_it_was_written(document in document()) {
        let text = document.to_value().to_string();
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(ClusterDocument::read(value).unwrap(), document);
    }

    #[test]
    fn a_request_is_read_as_it_was_written(document in document(), is_heat in any::<bool>()) {
        let family = if is_heat { Family::Heat } else { Family::CapiHelm };
        let body = Value::Object(create_request(&document, family));
        let read = read_create_request(&body).unwrap();
        prop_assert!(read.notices.is_empty());
        prop_assert_eq!(read.document, document);
    }

    #[test]
    fn a_command_line_is_read_as_it_was_written(mut document in document()) {
        // flags do not express these
        document.spec.control_plane.load_balancer = None;
        document.spec.network.floating_ips = None;
        document.spec.docker_volume_size = None;
        document.spec.discovery_url = None;
        if document.spec.api.exposure != Some(Exposure::Public) {
            document.spec.api.allowed_cidrs.clear();
        }
        let line = CommandLine::of(&document);
        prop_assert!(matches!(line, CommandLine::Flags(_)), "{line:?}");
        prop_assert_eq!(CommandLine::read(line.words()).unwrap(), document);
    }
}
