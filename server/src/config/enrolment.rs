//! `[enrolment]`: clusters that users enrol.
use ipnet::IpNet;
use portico_domain::api_address::reached;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
};
use url::Url;

const HTTPS_PORT: u16 = 443;

/// The metadata services of clouds that are not link-local: what runs on a machine of such a cloud reads its
/// credentials there.
const METADATA_V4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];
const METADATA_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

/// `[enrolment]`: clusters that users enrol, for the gateway and the panel; kube-auth has
/// `kube_auth.cluster_list`. Needs a store in SQLite or PostgreSQL. Without this section only the
/// clusters of the configuration are served.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnrolmentConfig {
    /// kube-auth's public key. The tokens for all enrolled clusters are sealed to it, so one
    /// kube-auth, in any number of replicas, serves them all.
    pub sealing_key_file: PathBuf,
    /// Networks in which the API servers of enrolled clusters may be, for example
    /// `["203.0.113.0/24"]`. Tenants decide on the addresses of their clusters, and Portico connects
    /// to them: list the networks of API servers and load balancers, and none of the cloud's own
    /// services. A cluster with a host name or another address is neither enrolled nor served.
    /// Empty: none.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub api_networks: Vec<IpNet>,
    /// Where users may enrol clusters from that were not made through Portico: with `"magnum"`, the
    /// creator of a cluster of OpenStack Magnum can enrol it from its page. Empty: only clusters made
    /// through Portico are enrolled, by themselves.
    #[serde(default)]
    pub sources: Vec<EnrolmentSource>,
    /// The roles that are bound in a cluster when it is enrolled. Without this section nothing is
    /// enrolled, the panel has no pages for clusters of Magnum, and the clusters that were enrolled
    /// before are still served. Required with `sources`.
    #[serde(default)]
    pub roles: Option<EnrolmentRoles>,
    /// The region whose Magnum is asked. Not needed where the service catalogue has one region.
    #[serde(default)]
    pub region: Option<String>,
    /// The interface of the service catalogue at which Magnum is reached: `public` or `internal`.
    #[serde(default = "default_interface")]
    pub interface: String,
    /// kube-auth, as the API servers of enrolled clusters reach it. Without it, users do not see how to
    /// configure the API server of a cluster that others built.
    #[serde(default)]
    pub webhook: Option<EnrolmentWebhook>,
}

/// Where users may enrol clusters from. What an operator imports is no source of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EnrolmentSource {
    /// OpenStack Magnum.
    Magnum,
}

fn default_interface() -> String {
    "public".to_owned()
}

/// `[enrolment.roles]`: IDs of the Keystone roles whose users get the pre-defined rights in every
/// namespace of an enrolled cluster, as with `portico kube-auth bootstrap`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnrolmentRoles {
    /// The ID of the role that becomes `portico-developer`.
    pub developer: String,
    /// The ID of the role that becomes `portico-viewer`.
    pub viewer: String,
    /// Namespaces left out besides `kube-*` and those labelled to opt out.
    #[serde(default)]
    pub exclude_namespaces: Vec<String>,
}

/// `[enrolment.webhook]`: kube-auth, as the API servers of enrolled clusters reach it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnrolmentWebhook {
    /// kube-auth's base URL, for example `https://portico.example.org:9443`.
    pub url: Url,
    /// The authority (PEM) of kube-auth's certificate. Users see it: it is part of the lines for their
    /// API servers.
    pub ca_file: PathBuf,
}

/// The fault in `enrolment`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnrolmentConfigError {
    #[error(
        "enrolment.api_networks is missing: name the networks in which API servers of enrolled \
         clusters may be"
    )]
    NoNetworks,
    #[error(
        "enrolment.roles is missing: name the IDs of the roles that are bound in a new cluster"
    )]
    NoRoles,
    #[error("enrolment.roles.{0} must not be empty")]
    EmptyRole(&'static str),
    #[error("enrolment.interface must be public or internal")]
    Interface,
    #[error("enrolment.webhook.url must begin with https://")]
    Webhook,
}

/// The reason why an API server's address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedAddress {
    #[error("the API server's address is not https:// with an IP address and a port")]
    Form,
    #[error("the API server's address {0} is not in enrolment.api_networks")]
    Outside(IpAddr),
}

impl EnrolmentConfig {
    /// Checks the values.
    ///
    /// # Errors
    /// The first fault.
    pub fn validate(&self) -> Result<(), EnrolmentConfigError> {
        if !matches!(self.interface.as_str(), "public" | "internal") {
            return Err(EnrolmentConfigError::Interface);
        }
        let webhook = self.webhook.as_ref();
        if webhook.is_some_and(|webhook| webhook.url.scheme() != "https") {
            return Err(EnrolmentConfigError::Webhook);
        }
        if !self.is_enrolling() {
            return Ok(());
        }
        if self.api_networks.is_empty() {
            return Err(EnrolmentConfigError::NoNetworks);
        }
        let roles = self.roles.as_ref().ok_or(EnrolmentConfigError::NoRoles)?;
        for (key, id) in [("developer", &roles.developer), ("viewer", &roles.viewer)] {
            if id.trim().is_empty() {
                return Err(EnrolmentConfigError::EmptyRole(key));
            }
        }
        Ok(())
    }

    /// Returns whether users may enrol clusters at all: those made through Portico.
    pub fn is_enrolling(&self) -> bool {
        self.roles.is_some() || !self.sources.is_empty()
    }

    /// Returns whether users may also enrol clusters that were not made through Portico.
    pub fn permits_outside(&self) -> bool {
        self.sources.contains(&EnrolmentSource::Magnum)
    }

    /// Returns the address of an API server, if Portico may connect to it. Only IP addresses in
    /// their usual form are accepted: a host name could have another address at the next request.
    ///
    /// # Errors
    /// [`RefusedAddress::Form`], or [`RefusedAddress::Outside`] for an address that is not listed.
    /// Link-local, multicast and unspecified addresses and those of metadata services are never
    /// permitted; those of the machine itself, and of a NAT64 of one network (RFC 8215), whose IPv4
    /// addresses cannot be known, only by a network of theirs. An IPv6 address that embeds an IPv4
    /// address is judged by the latter.
    pub fn permit(&self, api_url: &str) -> Result<SocketAddr, RefusedAddress> {
        let address = address(api_url).ok_or(RefusedAddress::Form)?;
        let ip = reached(address.ip());
        let is_permitted = |network: &IpNet| {
            let first = network.network();
            network.contains(&ip)
                && (!ip.is_loopback() || first.is_loopback())
                && (!is_local_nat64(ip) || is_local_nat64(first))
        };
        if is_special(ip) || !self.api_networks.iter().any(is_permitted) {
            return Err(RefusedAddress::Outside(ip));
        }
        Ok(address)
    }
}

/// Returns the address in `https://<IP address>:<port>`.
fn address(api_url: &str) -> Option<SocketAddr> {
    let rest = api_url.strip_prefix("https://")?;
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    // a zone (RFC 4007) names an interface of Portico's own machine, and other programs that read
    // the URL have other rules for it
    if authority.contains('%') {
        return None;
    }
    // the parser of the standard library knows no octal, shortened or numeric forms
    if let Ok(address) = authority.parse::<SocketAddr>() {
        return Some(address);
    }
    let bare = authority
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let ip = match bare {
        Some(v6) => IpAddr::V6(v6.parse().ok()?),
        None => IpAddr::V4(authority.parse().ok()?),
    };
    Some(SocketAddr::new(ip, HTTPS_PORT))
}

/// Returns whether an address is in 64:ff9b:1::/48: a translator forwards it to an IPv4 address, where only
/// its operator knows to which.
fn is_local_nat64(ip: IpAddr) -> bool {
    matches!(ip, IpAddr::V6(v6) if matches!(v6.segments(), [0x64, 0xff9b, 1, ..]))
}

fn is_special(ip: IpAddr) -> bool {
    let is_of_host_or_link = match ip {
        IpAddr::V4(ip) => {
            // 0.0.0.0/8 is "this host on this network" (RFC 1122)
            let [network, ..] = ip.octets();
            let is_this_host = network == 0 || ip == Ipv4Addr::BROADCAST;
            ip.is_link_local() || is_this_host || METADATA_V4.contains(&ip)
        }
        IpAddr::V6(ip) => ip.is_unicast_link_local() || ip == METADATA_V6,
    };
    is_of_host_or_link || ip.is_multicast() || ip.is_unspecified()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(networks: &[&str]) -> EnrolmentConfig {
        EnrolmentConfig {
            sealing_key_file: PathBuf::from("kube-auth.pub"),
            api_networks: networks.iter().map(|one| one.parse().unwrap()).collect(),
            sources: Vec::new(),
            roles: None,
            region: None,
            interface: default_interface(),
            webhook: None,
        }
    }

    #[test]
    fn only_listed_addresses_are_permitted() {
        let listed = config(&["192.0.2.0/24", "2001:db8::/32"]);
        for url in [
            "https://192.0.2.7:6443",
            "https://192.0.2.7:6443/",
            "https://192.0.2.7",
            "https://[2001:db8::7]:6443",
            "https://[2001:db8::7]",
        ] {
            assert!(listed.permit(url).is_ok(), "{url}");
        }
        let at = |url: &str| listed.permit(url).map(|address| address.to_string());
        assert_eq!(at("https://192.0.2.7"), Ok("192.0.2.7:443".to_owned()));
        for url in [
            "http://192.0.2.7:6443",
            "https://kube.example.org:6443",
            "https://0300.0.2.7:6443",
            "https://3221225991:6443",
            "https://192.0.2.7:6443/path",
            "https://192.0.2.7:6443?a=b",
            "https://user@192.0.2.7:6443",
            "https://2001:db8::7",
            "https://[2001:db8::7%1]:6443",
            "https://[2001:db8::7%251]",
            // resolvers take it for a name
            "https://192.0.2.7.:6443",
            "HTTPS://192.0.2.7:6443",
            "https://",
        ] {
            assert_eq!(listed.permit(url), Err(RefusedAddress::Form), "{url}");
        }
        for url in [
            "https://198.51.100.7:6443",
            "https://[::ffff:10.0.0.1]:6443",
        ] {
            let found = listed.permit(url);
            assert!(matches!(found, Err(RefusedAddress::Outside(_))), "{url}");
        }
        let nothing = config(&[]).permit("https://192.0.2.7:6443");
        assert!(matches!(nothing, Err(RefusedAddress::Outside(_))));
    }

    #[test]
    fn addresses_with_a_special_meaning_are_not_permitted_by_a_wide_network() {
        let all = config(&["0.0.0.0/0", "::/0"]);
        for url in [
            "https://169.254.169.254:443",
            "https://127.0.0.1:6443",
            "https://[::1]:6443",
            "https://[fe80::1]:6443",
            "https://[::ffff:127.0.0.1]:6443",
            "https://0.0.0.0:6443",
            "https://0.1.2.3:6443",
            "https://224.0.0.1:6443",
            "https://100.100.100.200:80",
            "https://[fd00:ec2::254]:80",
            "https://[fe80::a9fe:a9fe]:80",
        ] {
            let found = all.permit(url);
            assert!(matches!(found, Err(RefusedAddress::Outside(_))), "{url}");
        }
        assert!(
            all.permit("https://192.0.2.7:6443").is_ok(),
            "the control case"
        );
        let own = config(&["127.0.0.0/8"]);
        assert!(own.permit("https://127.0.0.1:6443").is_ok());
    }

    #[test]
    fn an_address_of_nat64_is_judged_by_the_ipv4_address_in_it() {
        let all = config(&["0.0.0.0/0", "::/0"]);
        for url in [
            "https://[64:ff9b::169.254.169.254]:443",
            "https://[64:ff9b::127.0.0.1]:6443",
            "https://[64:ff9b::7f00:1]:6443",
            "https://[::169.254.169.254]:443",
            "https://[::7f00:1]:6443",
            "https://[2002:a9fe:a9fe::1]:443",
            "https://[2002:7f00:1::1]:6443",
        ] {
            let found = all.permit(url);
            assert!(matches!(found, Err(RefusedAddress::Outside(_))), "{url}");
        }
        let url = "https://[64:ff9b::192.0.2.7]:6443";
        let v6_only = config(&["64:ff9b::/96"]).permit(url);
        assert!(matches!(v6_only, Err(RefusedAddress::Outside(_))));
        assert!(config(&["192.0.2.0/24"]).permit(url).is_ok());
        // which IPv4 address a NAT64 of one network means is not known
        let local = "https://[64:ff9b:1::7f00:1]:6443";
        assert!(matches!(all.permit(local), Err(RefusedAddress::Outside(_))));
        assert!(config(&["64:ff9b:1::/48"]).permit(local).is_ok());
        // the control case: another prefix has no IPv4 address in it
        let other = "https://[64:ff9c::7f00:1]:6443";
        assert!(all.permit(other).is_ok());
    }

    #[test]
    fn imported_clusters_are_not_a_source_for_users() {
        let read = |word: &str| serde_json::from_value::<EnrolmentSource>(word.into());
        assert_eq!(read("magnum").unwrap(), EnrolmentSource::Magnum);
        assert!(read("operator").is_err());
    }

    #[test]
    fn enrolment_needs_networks_and_roles() {
        let roles = EnrolmentRoles {
            developer: "d".to_owned(),
            viewer: "v".to_owned(),
            exclude_namespaces: Vec::new(),
        };
        let magnum = EnrolmentConfig {
            sources: vec![EnrolmentSource::Magnum],
            ..config(&[])
        };
        assert_eq!(config(&[]).validate(), Ok(()));
        assert_eq!(magnum.validate(), Err(EnrolmentConfigError::NoNetworks));
        let listed = EnrolmentConfig {
            sources: magnum.sources.clone(),
            ..config(&["192.0.2.0/24"])
        };
        assert_eq!(listed.validate(), Err(EnrolmentConfigError::NoRoles));
        let whole = |roles| EnrolmentConfig {
            roles: Some(roles),
            ..listed.clone()
        };
        assert_eq!(whole(roles.clone()).validate(), Ok(()));
        // without a source, clusters made through Portico are enrolled
        let own = EnrolmentConfig {
            roles: Some(roles.clone()),
            ..config(&[])
        };
        assert!(own.is_enrolling() && !own.permits_outside());
        assert_eq!(own.validate(), Err(EnrolmentConfigError::NoNetworks));
        let viewer = String::new();
        assert_eq!(
            whole(EnrolmentRoles { viewer, ..roles }).validate(),
            Err(EnrolmentConfigError::EmptyRole("viewer"))
        );
    }
}
