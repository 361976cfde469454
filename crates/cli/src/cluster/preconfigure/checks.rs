//! The checks, from what the cloud has and what is needed.
use super::document::Bootstrap;
use super::inventory::Inventory;
use super::lookup::{Found, any, find, named};
use super::report::{Check, Task};
use super::roles::roles;
use portico_lifecycle::driver::Family;
use portico_lifecycle::preflight::MIN_FLAVOR;
use portico_lifecycle::quota::{ClusterSize, Fit, FlavorSize, GroupSize, creation, project, surge};
use portico_openstack::glance::Image;
use portico_openstack::magnum::ClusterTemplate;
use portico_openstack::neutron::Network;
use portico_openstack::nova::{Flavor, KeyPair};
use portico_openstack::rest::{Listing, Service};

/// Services without which Magnum creates no cluster.
const REQUIRED: [Service; 4] = [
    Service::Magnum,
    Service::Nova,
    Service::Neutron,
    Service::Glance,
];
/// The type of Designate in a catalogue.
const DNS: &[&str] = &["dns"];

/// Runs all checks.
pub fn run(inventory: &Inventory, wanted: &Bootstrap) -> Vec<Check> {
    let mut checks = catalogue(inventory, wanted);
    checks.push(external_network(inventory, wanted));
    let (template, found) = template(inventory, wanted);
    checks.push(template);
    checks.extend(values_of_template(found, wanted));
    checks.extend(flavors(inventory, wanted));
    checks.push(image(inventory, wanted));
    checks.push(key_pair(inventory, wanted));
    checks.extend(quota(inventory, wanted, found));
    checks.extend(roles(inventory));
    checks
}

fn catalogue(inventory: &Inventory, wanted: &Bootstrap) -> Vec<Check> {
    const SUBJECT: &str = "Catalogue";
    let region = wanted.region.as_deref();
    let has = |types: &[&str]| {
        inventory.endpoints.iter().any(|endpoint| {
            types.contains(&endpoint.service_type.as_str())
                && (region.is_none() || endpoint.region.as_deref() == region)
        })
    };
    let place = region.map(|region| format!(" in the region {region}"));
    let place = place.unwrap_or_default();
    let offer = |what: &str| Task::operators(format!("offer {what} to this project{place}"));
    let absent = |what: &str| format!("the catalogue has no {what}{place}");
    let mut checks = Vec::new();
    for service in REQUIRED {
        if !has(service.types()) {
            let what = service.to_string();
            checks.push(Check::missing(SUBJECT, absent(&what), offer(&what)));
        }
    }
    for (service, lost) in [
        (Service::Cinder, "clusters have no PersistentVolumes"),
        (
            Service::Octavia,
            "clusters have one control plane node, and no Services of type LoadBalancer",
        ),
    ] {
        if !has(service.types()) {
            let what = service.to_string();
            let detail = format!("{}: {lost}", absent(&what));
            checks.push(Check::warning(SUBJECT, detail, offer(&what)));
        }
    }
    if let Some(zone) = &wanted.dns_zone {
        if has(DNS) {
            let task = Task::yours(format!(
                "see that the zone exists: openstack zone show {zone}"
            ));
            let detail = format!("the DNS service is offered; the zone {zone} was not read");
            checks.push(Check::warning(SUBJECT, detail, task));
        } else {
            let what = "DNS service";
            checks.push(Check::missing(SUBJECT, absent(what), offer(what)));
        }
    }
    if checks.is_empty() {
        checks.push(Check::ok(SUBJECT, "all services are offered"));
    }
    checks
}

fn external_network(inventory: &Inventory, wanted: &Bootstrap) -> Check {
    const SUBJECT: &str = "External network";
    let task = || Task::operators("share an external network with this project");
    let Some(name) = &wanted.external_network else {
        let what = "external network";
        return any(SUBJECT, &inventory.networks, first_external, what, task());
    };
    let key = |one: &Network| (one.id.clone(), one.name.clone());
    named(SUBJECT, &inventory.networks, name, key, task(), |network| {
        if network.is_external {
            Check::ok(SUBJECT, format!("{name} leads out of the cloud"))
        } else {
            let task = Task::yours("name an external network: openstack network list --external");
            Check::missing(
                SUBJECT,
                format!("{name} does not lead out of the cloud"),
                task,
            )
        }
    })
}

fn first_external(listing: &Listing<Network>) -> Option<String> {
    let found = listing.items.iter().find(|network| network.is_external);
    found.map(|network| network.name.clone())
}

/// Returns the check, and the template that is named.
fn template<'a>(
    inventory: &'a Inventory,
    wanted: &Bootstrap,
) -> (Check, Option<&'a ClusterTemplate>) {
    const SUBJECT: &str = "Template";
    let task = || {
        Task::operators(
            "publish a cluster template; members can also make one with `portico cluster template create`",
        )
    };
    let Some(name) = &wanted.template else {
        let first = |listing: &Listing<ClusterTemplate>| {
            listing.items.first().map(|template| template.name.clone())
        };
        return (
            any(SUBJECT, &inventory.templates, first, "template", task()),
            None,
        );
    };
    let key = |one: &ClusterTemplate| (one.uuid.to_string(), one.name.clone());
    let ok = |_: &ClusterTemplate| Check::ok(SUBJECT, format!("{name} exists"));
    let check = named(SUBJECT, &inventory.templates, name, key, task(), ok);
    let listed = inventory.templates.as_ref().ok();
    let found = listed.and_then(|listing| match find(listing, name, key) {
        Found::One(template) => Some(template),
        _ => None,
    });
    (check, found)
}

/// Compares proxy and registry, which are values of a template.
fn values_of_template(template: Option<&ClusterTemplate>, wanted: &Bootstrap) -> Vec<Check> {
    let has_proxy = |proxy: &str| {
        template.is_some_and(|template| {
            let proxies = [&template.http_proxy, &template.https_proxy];
            proxies.iter().any(|one| one.as_deref() == Some(proxy))
        })
    };
    let has_registry = |registry: &str| {
        template.is_some_and(|template| template.insecure_registry.as_deref() == Some(registry))
    };
    let mut checks = Vec::new();
    for (subject, wanted, is_set) in [
        (
            "Proxy",
            &wanted.proxy,
            wanted.proxy.as_deref().is_some_and(has_proxy),
        ),
        (
            "Registry",
            &wanted.registry,
            wanted.registry.as_deref().is_some_and(has_registry),
        ),
    ] {
        let Some(value) = wanted else { continue };
        checks.push(if is_set {
            Check::ok(subject, format!("the template has {value}"))
        } else {
            let task = Task::yours(format!(
                "use a template with {value}, and name it in the file"
            ));
            Check::warning(subject, format!("no named template has {value}"), task)
        });
    }
    checks
}

fn flavors(inventory: &Inventory, wanted: &Bootstrap) -> Vec<Check> {
    const SUBJECT: &str = "Flavor";
    let task = || {
        Task::operators(format!(
            "share a flavor of at least {} vCPUs and {} MiB of RAM with this project",
            MIN_FLAVOR.vcpus, MIN_FLAVOR.ram_mib
        ))
    };
    let mut names = vec![&wanted.control_plane.flavor, &wanted.workers.flavor];
    names.dedup();
    let names: Vec<_> = names.into_iter().flatten().collect();
    if names.is_empty() {
        let first = |listing: &Listing<Flavor>| {
            let found = listing.items.iter().find(|flavor| is_sufficient(flavor));
            found.map(|flavor| flavor.name.clone())
        };
        let check = any(
            SUBJECT,
            &inventory.flavors,
            first,
            "flavor for a node",
            task(),
        );
        return vec![check];
    }
    let check = |name: &String| {
        named(
            SUBJECT,
            &inventory.flavors,
            name,
            key_of_flavor,
            task(),
            |flavor| {
                let size = format!("{name}: {} vCPUs, {} MiB of RAM", flavor.vcpus, flavor.ram);
                if is_sufficient(flavor) {
                    return Check::ok(SUBJECT, size);
                }
                let task = Task::yours(format!(
                    "name a flavor of at least {} vCPUs and {} MiB of RAM",
                    MIN_FLAVOR.vcpus, MIN_FLAVOR.ram_mib
                ));
                Check::missing(SUBJECT, format!("{size}, too small for Kubernetes"), task)
            },
        )
    };
    names.into_iter().map(check).collect()
}

fn key_of_flavor(flavor: &Flavor) -> (String, String) {
    (flavor.id.clone(), flavor.name.clone())
}

fn is_sufficient(flavor: &Flavor) -> bool {
    let vcpus = u64::from(flavor.vcpus);
    !flavor.disabled && vcpus >= MIN_FLAVOR.vcpus && flavor.ram >= MIN_FLAVOR.ram_mib
}

fn image(inventory: &Inventory, wanted: &Bootstrap) -> Check {
    const SUBJECT: &str = "Image";
    let Some(name) = &wanted.image else {
        let first = |listing: &Listing<Image>| {
            let found = listing
                .items
                .iter()
                .find(|image| image.os_distro().is_some());
            found.map(|image| image.name.clone())
        };
        let task = Task::operators("upload an image for Kubernetes, with the property os_distro");
        let what = "image with the property os_distro";
        return any(SUBJECT, &inventory.images, first, what, task);
    };
    let task = Task::operators(format!(
        "upload the image {name}, or share it with this project"
    ));
    let key = |one: &Image| (one.id.clone(), one.name.clone());
    named(SUBJECT, &inventory.images, name, key, task, |image| {
        let Some(distribution) = image.os_distro() else {
            let task = Task::operators(format!(
                "openstack image set --property os_distro=DISTRIBUTION {}",
                image.id
            ));
            let detail = format!("{name} has no property os_distro, so Magnum refuses it");
            return Check::missing(SUBJECT, detail, task);
        };
        let version = match image.kube_version() {
            Some(version) => format!(", kube_version {version}"),
            // needed by magnum-capi-helm only
            None => ", no kube_version".to_owned(),
        };
        Check::ok(SUBJECT, format!("{name}: {distribution}{version}"))
    })
}

fn key_pair(inventory: &Inventory, wanted: &Bootstrap) -> Check {
    const SUBJECT: &str = "Key pair";
    let make = |name: &str| {
        Task::yours(format!(
            "openstack keypair create --public-key ~/.ssh/id_ed25519.pub {name}"
        ))
    };
    let Some(name) = &wanted.keypair else {
        let first = |listing: &Listing<KeyPair>| {
            listing.items.first().map(|key_pair| key_pair.name.clone())
        };
        return any(
            SUBJECT,
            &inventory.key_pairs,
            first,
            "key pair of yours",
            make("NAME"),
        );
    };
    let key = |one: &KeyPair| (one.name.clone(), one.name.clone());
    named(SUBJECT, &inventory.key_pairs, name, key, make(name), |_| {
        Check::ok(SUBJECT, format!("{name} exists"))
    })
}

/// Compares one cluster with the quotas; a node per group more, for a later upgrade, is a warning.
fn quota(
    inventory: &Inventory,
    wanted: &Bootstrap,
    template: Option<&ClusterTemplate>,
) -> Vec<Check> {
    const SUBJECT: &str = "Quota";
    let label = |key: &str| template.and_then(|template| template.labels.get(key));
    let boot = label("boot_volume_size").and_then(|size| size.parse().ok());
    let group = |replicas: Option<u32>, flavor: &Option<String>| GroupSize {
        nodes: replicas.unwrap_or(1).into(),
        flavor: size(inventory, flavor.as_deref()),
        boot_volume_gib: boot.unwrap_or_default(),
        ..GroupSize::default()
    };
    let (masters, workers) = (&wanted.control_plane, &wanted.workers);
    let control_plane = group(masters.replicas, &masters.flavor);
    let workers = group(workers.replicas, &workers.flavor);
    let cluster = ClusterSize {
        control_plane,
        workers: vec![workers],
        has_load_balancer: control_plane.nodes > 1,
        is_public: true,
        has_floating_ip_per_node: false,
        family: Family::Unknown,
    };
    let more = surge(&[control_plane, workers]);
    let mut checks = Vec::new();
    for projection in project(&inventory.usages, &creation(&cluster), &more) {
        let task = || Task::operators(format!("raise the quota of {}", projection.resource.name()));
        let sentence = projection.sentence();
        match projection.fit {
            Fit::Fits => {}
            Fit::FitsWithoutSurge => checks.push(Check::warning(SUBJECT, sentence, task())),
            Fit::Exceeded(_) => checks.push(Check::missing(SUBJECT, sentence, task())),
            // some clouds do not report their defaults
            Fit::Unknown => checks.push(Check::notice(SUBJECT, sentence)),
        }
    }
    if checks.is_empty() {
        let nodes = format!(
            "the quotas suffice for a cluster of {} and {} nodes",
            control_plane.nodes, workers.nodes
        );
        checks.push(Check::ok(SUBJECT, nodes));
    }
    checks
}

/// Returns the size of a flavor; the smallest for a node where it is not known.
fn size(inventory: &Inventory, name: Option<&str>) -> FlavorSize {
    let (Some(name), Ok(listing)) = (name, &inventory.flavors) else {
        return MIN_FLAVOR;
    };
    match find(listing, name, key_of_flavor) {
        Found::One(flavor) => FlavorSize {
            vcpus: flavor.vcpus.into(),
            ram_mib: flavor.ram,
        },
        _ => MIN_FLAVOR,
    }
}
