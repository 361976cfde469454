//! Icons for the kinds of Kubernetes.
use super::icons;
use icondata_core::Icon;
use icondata_lu as lucide;

/// Returns the icon of a kind. Kinds that Kubernetes does not define share one; unknown kinds of
/// its own groups share the box.
pub fn kind_icon(group: &str, plural: &str) -> Icon {
    match (group, plural) {
        ("", "pods" | "podtemplates") => icons::BOX,
        ("apps" | "extensions", "deployments") => lucide::LuRocket,
        ("apps", "statefulsets") => lucide::LuDatabase,
        ("apps" | "extensions", "daemonsets") => lucide::LuGrid3x3,
        ("apps" | "extensions", "replicasets") | ("", "replicationcontrollers") => icons::COPY,
        ("batch", "jobs") => lucide::LuListChecks,
        ("batch", "cronjobs") => lucide::LuCalendarClock,
        ("autoscaling" | "autoscaling.k8s.io", _) => lucide::LuScaling,
        ("policy", "poddisruptionbudgets") => lucide::LuUmbrella,

        ("", "services") => lucide::LuNetwork,
        ("", "endpoints") | ("discovery.k8s.io", _) => lucide::LuWaypoints,
        ("networking.k8s.io" | "extensions", "ingresses" | "ingressclasses") => lucide::LuGlobe,
        ("networking.k8s.io" | "extensions", "networkpolicies") => lucide::LuBrickWall,
        ("gateway.networking.k8s.io", _) => lucide::LuRoute,

        ("", "configmaps") => lucide::LuFileCog,
        ("", "secrets") => lucide::LuFileKey2,
        ("", "serviceaccounts") => lucide::LuUserCog,
        ("", "resourcequotas" | "limitranges") => lucide::LuGauge,
        ("rbac.authorization.k8s.io", "roles" | "clusterroles") => icons::SHIELD,
        ("rbac.authorization.k8s.io", _) => lucide::LuUserCheck,

        ("", "persistentvolumeclaims") => lucide::LuHardDrive,
        ("", "persistentvolumes") => lucide::LuDisc3,
        ("storage.k8s.io" | "snapshot.storage.k8s.io", _) => lucide::LuCylinder,

        ("", "namespaces") => icons::LAYERS,
        ("", "nodes") => icons::SERVER,
        ("" | "events.k8s.io", "events") => icons::BELL,
        ("apiextensions.k8s.io", _) => lucide::LuBlocks,
        ("admissionregistration.k8s.io", _) => lucide::LuWebhook,
        ("certificates.k8s.io", _) => lucide::LuBadgeCheck,
        _ if is_kubernetes(group) => icons::BOXES,
        _ => lucide::LuPuzzle,
    }
}

fn is_kubernetes(group: &str) -> bool {
    !group.contains('.') || group.ends_with(".k8s.io")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(group: &str, plural: &str) -> &'static str {
        kind_icon(group, plural).data
    }

    #[test]
    fn custom_resources_share_an_icon_of_their_own() {
        let custom = data("data.example.org", "backups");
        assert_eq!(custom, data("cert-manager.io", "certificates"));
        for (group, plural) in [
            ("", "pods"),
            ("apps", "deployments"),
            ("apps", "unheard-of"),
        ] {
            assert_ne!(data(group, plural), custom, "{group}/{plural}");
        }
    }

    #[test]
    fn a_custom_resource_does_not_pass_for_one_of_kubernetes() {
        let custom = data("data.example.org", "backups");
        for plural in ["pods", "secrets", "nodes", "events"] {
            assert_eq!(data("example.org", plural), custom, "{plural}");
        }
    }

    #[test]
    fn entries_side_by_side_in_the_navigation_differ() {
        let side_by_side = [
            ("", "pods"),
            ("apps", "deployments"),
            ("apps", "statefulsets"),
            ("apps", "daemonsets"),
            ("batch", "jobs"),
            ("", "services"),
            ("networking.k8s.io", "ingresses"),
            ("networking.k8s.io", "networkpolicies"),
            ("", "configmaps"),
            ("", "secrets"),
            ("", "persistentvolumeclaims"),
            ("", "persistentvolumes"),
            ("storage.k8s.io", "storageclasses"),
        ];
        let mut seen: Vec<&str> = side_by_side
            .map(|(group, plural)| data(group, plural))
            .into();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), side_by_side.len());
    }
}
