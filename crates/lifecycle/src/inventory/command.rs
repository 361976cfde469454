//! Commands that delete what is left.
use super::{Item, Kind};

/// Returns the command that deletes an item; `None`: there is none, or it must not be deleted.
pub fn deletion_command(item: &Item) -> Option<String> {
    let command = match item.kind {
        Kind::Server => "openstack server delete",
        Kind::NodeVolume | Kind::PersistentVolume(_) => "openstack volume delete",
        Kind::VolumeSnapshot => "openstack volume snapshot delete",
        Kind::ApiLoadBalancer | Kind::ServiceLoadBalancer => {
            "openstack loadbalancer delete --cascade"
        }
        Kind::ClusterFloatingIp | Kind::ServiceFloatingIp => "openstack floating ip delete",
        Kind::SecurityGroup => "openstack security group delete",
        // ports of routers have to be removed first
        Kind::OwnNetwork
        | Kind::OwnRouter
        | Kind::ExistingNetwork
        | Kind::DnsRecord
        | Kind::Bucket
        | Kind::RegistryImage
        | Kind::Credential => return None,
    };
    // the text is pasted into a shell
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_id = !item.id.is_empty() && !item.id.starts_with('-') && item.id.bytes().all(is_plain);
    is_id.then(|| format!("{command} {}", item.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inventory::Reclaim;

    fn item(kind: Kind, id: &str) -> Item {
        Item {
            kind,
            id: id.to_owned(),
            name: "name".to_owned(),
        }
    }

    #[test]
    fn only_plain_ids_become_part_of_a_command() {
        let volume = Kind::PersistentVolume(Reclaim::Unknown);
        let found = deletion_command(&item(volume.clone(), "5f0c-1a"));
        assert_eq!(found.as_deref(), Some("openstack volume delete 5f0c-1a"));
        for id in ["", "--all", "a;b", "a b", "$(x)"] {
            assert_eq!(deletion_command(&item(volume.clone(), id)), None, "{id}");
        }
        assert_eq!(
            deletion_command(&item(Kind::ExistingNetwork, "net-1")),
            None
        );
    }
}
