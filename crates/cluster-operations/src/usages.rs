//! What the project uses of its quotas, and the sizes of flavors. A service that the cloud lacks or that
//! refuses leaves a gap, which the checks report.
use crate::clients::Clients;
use portico_lifecycle::quota::{FlavorSize, Limit, Resource, Usage, Usages};
use portico_openstack::cinder::VolumeLimits;
use portico_openstack::magnum::Quota;
use portico_openstack::neutron::NetworkQuota;
use portico_openstack::nova::{ComputeLimits, Flavor};
use portico_openstack::octavia::{LoadBalancer, LoadBalancerQuota};
use portico_openstack::rest::{Error, Listing, QuotaUsage, ScopedToken};
use std::collections::BTreeMap;

/// Sizes by name and by ID.
pub type Flavors = BTreeMap<String, FlavorSize>;

/// Reads the quotas; `clusters` is the number of clusters of the project, if it is known.
pub async fn usages(clients: &Clients, token: &ScopedToken, clusters: Option<usize>) -> Usages {
    let (compute, volume, network, limits, balancers, magnum) = tokio::join!(
        clients.nova.limits(token),
        clients.cinder.limits(token),
        clients.neutron.quota(token),
        clients.octavia.quota(token),
        clients.octavia.load_balancers(token),
        clients.magnum.quota(token, &token.project_id),
    );
    let answers = Answers {
        compute,
        volume,
        network,
        limits,
        balancers,
        magnum,
    };
    answers.usages(clusters)
}

/// What the services answered.
struct Answers {
    compute: Result<ComputeLimits, Error>,
    volume: Result<VolumeLimits, Error>,
    network: Result<NetworkQuota, Error>,
    limits: Result<LoadBalancerQuota, Error>,
    balancers: Result<Listing<LoadBalancer>, Error>,
    magnum: Result<Quota, Error>,
}

impl Answers {
    fn usages(self, clusters: Option<usize>) -> Usages {
        let mut usages = Usages::new();
        let mut add = |resource, usage: QuotaUsage| {
            let limit = usage.limit.map_or(Limit::Unlimited, Limit::Max);
            let used = usage.used;
            usages.insert(resource, Usage { used, limit });
        };
        if let Ok(compute) = self.compute {
            add(Resource::Instances, compute.instances);
            add(Resource::Cores, compute.cores);
            add(Resource::RamMib, compute.ram);
        }
        if let Ok(volume) = self.volume {
            add(Resource::Volumes, volume.volumes);
            add(Resource::VolumeGib, volume.gigabytes);
        }
        if let Ok(Some(floating_ips)) = self.network.map(|quota| quota.floating_ips) {
            add(Resource::FloatingIps, floating_ips);
        }
        if let (Ok(limits), Ok(balancers)) = (self.limits, self.balancers)
            && balancers.cut.is_none()
            // `None` may be the cloud's default, which is not known
            && let Some(limit) = limits.load_balancers
        {
            let usage = QuotaUsage {
                used: to_u64(balancers.items.len()),
                limit: Some(limit),
            };
            add(Resource::LoadBalancers, usage);
        }
        if let (Ok(quota), Some(clusters)) = (self.magnum, clusters) {
            let usage = QuotaUsage {
                used: to_u64(clusters),
                limit: u64::try_from(quota.hard_limit).ok(),
            };
            add(Resource::Clusters, usage);
        }
        usages
    }
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Reads the flavors; empty if Nova cannot be asked.
pub async fn flavors(clients: &Clients, token: &ScopedToken) -> Flavors {
    let Ok(listing) = clients.nova.flavors(token).await else {
        return Flavors::new();
    };
    sizes(&listing.items)
}

fn sizes(flavors: &[Flavor]) -> Flavors {
    let size = |flavor: &Flavor| FlavorSize {
        vcpus: flavor.vcpus.into(),
        ram_mib: flavor.ram,
    };
    let by_name = flavors.iter().map(|one| (one.name.clone(), size(one)));
    // an ID wins over a name that looks like it
    let by_id = flavors.iter().map(|one| (one.id.clone(), size(one)));
    by_name.chain(by_id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_openstack::rest::{Cut, Effect, ErrorKind, Service};
    use serde_json::json;

    fn usage(used: u64, limit: Option<u64>) -> QuotaUsage {
        QuotaUsage { used, limit }
    }

    fn no_service<T>(service: Service) -> Result<T, Error> {
        Err(Error {
            service,
            operation: "quota",
            request_id: None,
            status: None,
            effect: Effect::None,
            kind: ErrorKind::Forbidden(String::new()),
        })
    }

    fn answers() -> Answers {
        let none = usage(0, None);
        let balancer = json!({"id": "1", "provisioning_status": "ACTIVE",
            "operating_status": "ONLINE"});
        let quota = json!({"project_id": "acme", "resource": "Cluster", "hard_limit": 20});
        Answers {
            compute: Ok(ComputeLimits {
                instances: usage(3, Some(10)),
                cores: usage(6, None),
                ram: usage(8192, Some(51_200)),
                server_groups: none,
            }),
            volume: Ok(VolumeLimits {
                volumes: usage(2, Some(10)),
                gigabytes: usage(70, Some(1000)),
                snapshots: none,
            }),
            network: Ok(NetworkQuota {
                floating_ips: Some(usage(1, Some(5))),
                ..NetworkQuota::default()
            }),
            limits: Ok(LoadBalancerQuota {
                load_balancers: Some(4),
                listeners: None,
                pools: None,
                members: None,
            }),
            balancers: Ok(Listing {
                items: vec![serde_json::from_value(balancer).unwrap()],
                cut: None,
            }),
            magnum: Ok(serde_json::from_value(quota).unwrap()),
        }
    }

    #[test]
    fn every_resource_has_what_is_used_and_its_limit() {
        let usages = answers().usages(Some(2));
        let expected = [
            (Resource::Clusters, 2, Limit::Max(20)),
            (Resource::Instances, 3, Limit::Max(10)),
            (Resource::Cores, 6, Limit::Unlimited),
            (Resource::RamMib, 8192, Limit::Max(51_200)),
            (Resource::Volumes, 2, Limit::Max(10)),
            (Resource::VolumeGib, 70, Limit::Max(1000)),
            (Resource::FloatingIps, 1, Limit::Max(5)),
            (Resource::LoadBalancers, 1, Limit::Max(4)),
        ];
        let expected = expected.map(|(resource, used, limit)| (resource, Usage { used, limit }));
        assert_eq!(usages, Usages::from(expected));
    }

    #[test]
    fn a_service_that_cannot_be_asked_leaves_a_gap() {
        let missing = |answers: Answers, clusters| {
            let usages = answers.usages(clusters);
            let all = Resource::ALL.into_iter();
            all.filter(|resource| !usages.contains_key(resource))
                .collect::<Vec<_>>()
        };
        let without_nova = Answers {
            compute: no_service(Service::Nova),
            ..answers()
        };
        let of_nova = [Resource::Instances, Resource::Cores, Resource::RamMib];
        assert_eq!(missing(without_nova, Some(2)), of_nova);
        let without_cinder = Answers {
            volume: no_service(Service::Cinder),
            ..answers()
        };
        let of_cinder = [Resource::Volumes, Resource::VolumeGib];
        assert_eq!(missing(without_cinder, Some(2)), of_cinder);
        let without_neutron = Answers {
            network: no_service(Service::Neutron),
            ..answers()
        };
        assert_eq!(missing(without_neutron, Some(2)), [Resource::FloatingIps]);
        let without_magnum = Answers {
            magnum: no_service(Service::Magnum),
            ..answers()
        };
        assert_eq!(missing(without_magnum, Some(2)), [Resource::Clusters]);
        // the number of clusters is not known
        assert_eq!(missing(answers(), None), [Resource::Clusters]);
    }

    #[test]
    fn load_balancers_are_counted_only_where_list_and_limit_are_known() {
        let has_any = |answers: Answers| {
            let usages = answers.usages(None);
            usages.contains_key(&Resource::LoadBalancers)
        };
        assert!(has_any(answers()));
        let cut = Listing {
            items: Vec::new(),
            cut: Some(Cut::TooLong),
        };
        let default = LoadBalancerQuota {
            load_balancers: None,
            listeners: None,
            pools: None,
            members: None,
        };
        assert!(!has_any(Answers {
            balancers: Ok(cut),
            ..answers()
        }));
        assert!(!has_any(Answers {
            limits: Ok(default),
            ..answers()
        }));
        assert!(!has_any(Answers {
            balancers: no_service(Service::Octavia),
            ..answers()
        }));
    }

    #[test]
    fn a_flavor_is_found_by_name_and_by_id_and_the_id_wins() {
        let flavor = |id: &str, name: &str, vcpus: u32| {
            let flavor = json!({"id": id, "name": name, "vcpus": vcpus, "ram": 2048});
            serde_json::from_value::<Flavor>(flavor).unwrap()
        };
        // the second one has the ID of the first as its name
        let sizes = sizes(&[flavor("1", "small", 2), flavor("2", "1", 8)]);
        let vcpus = |key: &str| sizes.get(key).map(|size| size.vcpus);
        assert_eq!(vcpus("small"), Some(2));
        assert_eq!(vcpus("1"), Some(2));
        assert_eq!(vcpus("2"), Some(8));
        assert_eq!(vcpus("large"), None);
    }
}
