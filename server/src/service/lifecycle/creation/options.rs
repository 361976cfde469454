//! What the form for a new cluster offers.
use super::{mapping, templates};
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{access::MagnumAccess, error, list::missing, managed, viewer::Viewer},
    },
};
use jiff::tz::TimeZone;
use portico_cluster_operations::{Clients, usages::usages};
use portico_domain::panel::{
    Reading, Refusal,
    lifecycle::{
        ActionOffer, ClusterAction, CreationOptions, FlavorOption, LabelOption, NetworkOption,
        SubnetOption,
    },
};
use portico_lifecycle::{
    driver::{ApiVersion, Cloud},
    labels::{KNOWN, KnownLabel, Values},
    quota::Usages,
    rights::Call,
    spec::field_of_label,
};
use portico_openstack::{
    magnum::Cluster,
    nova::Flavor,
    rest::{Error, ErrorKind, Listing, ScopedToken},
};
use std::collections::BTreeMap;

/// Returns what the form offers. A service besides Magnum that does not answer leaves a gap.
///
/// # Errors
/// Those of [`crate::service::lifecycle::list()`].
pub async fn options(
    services: &Services,
    caller: &Caller,
) -> Result<CreationOptions, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    let (clients, token) = (&access.clients, &viewer.token);
    let mut gaps = Gaps::default();
    let (features, templates, project, images, flavors, keypairs, networks, zones) = tokio::join!(
        clients.magnum.features(token),
        clients.magnum.templates(token),
        project(clients, token),
        clients.glance.images(token),
        clients.nova.flavors(token),
        clients.nova.key_pairs(token),
        networks(clients, token),
        clients.nova.availability_zones(token),
    );
    let features = features.map_err(|error| error::of_service(&error))?;
    let templates = templates.map_err(|error| error::of_service(&error))?;
    let (clusters, usages) = project?;
    let templates = gaps.items("templates", templates);
    let clusters = gaps.items("clusters", clusters);
    let images = match images {
        Ok(images) => gaps.items("images", images),
        Err(error) => {
            gaps.0.push(format!(
                "The images could not be read, so the version of some templates is not known. {}",
                error::message(&error)
            ));
            Vec::new()
        }
    };
    let sources = templates::Sources {
        cloud: Cloud {
            api: ApiVersion(features.version.minor),
            release: clients.drivers.release,
        },
        clusters: &clusters,
        images: &images,
        today: services.clock.now().to_zoned(TimeZone::UTC).date(),
        usual_seconds: &|template| access.usual_seconds(template),
    };
    let mut taken_names: Vec<_> = clusters.iter().map(|one| one.name.clone()).collect();
    taken_names.sort();
    taken_names.dedup();
    Ok(CreationOptions {
        creation: offer(access, &viewer),
        templates: templates::cards(&templates, &sources, &clients.drivers),
        flavors: reading(flavors.map(|listing| flavor_options(&gaps.items("flavors", listing)))),
        keypairs: reading(keypairs.map(|pairs| pairs.into_iter().map(|one| one.name).collect())),
        networks: reading(networks.map(|listing| gaps.items("networks", listing))),
        zones: reading(zones.map(|zones| {
            let zones = zones.into_iter().filter(|zone| zone.available);
            zones.map(|zone| zone.name).collect()
        })),
        quotas: mapping::quotas(&usages),
        labels: KNOWN.iter().filter_map(label_option).collect(),
        taken_names,
        client_address: caller.address().map(|address| address.to_string()),
        missing: missing(features),
        gaps: gaps.0,
    })
}

/// Returns the clusters of the project, and what it uses.
async fn project(
    clients: &Clients,
    token: &ScopedToken,
) -> Result<(Listing<Cluster>, Usages), ServiceError> {
    let clusters = clients.magnum.clusters(token).await;
    let clusters = clusters.map_err(|error| error::of_service(&error))?;
    let count = clusters.cut.is_none().then_some(clusters.items.len());
    let usages = usages(clients, token, count).await;
    Ok((clusters, usages))
}

/// Returns whether the viewer may create a cluster here.
fn offer(access: &MagnumAccess, viewer: &Viewer) -> ActionOffer {
    let storage = access.attempts.store().is_none().then(|| {
        "Clusters cannot be created here: the operator has to give Portico a SQL database. `portico \
         cluster create` works without it."
            .to_owned()
    });
    managed::offer(
        ClusterAction::Create,
        viewer.refusal(Call::CreateCluster, None).or(storage),
    )
}

/// Lists that are not complete, as sentences.
#[derive(Default)]
struct Gaps(Vec<String>);

impl Gaps {
    fn items<T>(&mut self, what: &str, listing: Listing<T>) -> Vec<T> {
        if let Some(cut) = listing.cut {
            self.0
                .push(format!("The list of {what} is incomplete: {cut}."));
        }
        listing.items
    }
}

/// Returns what a service answered, or why it did not.
pub fn reading<T>(result: Result<T, Error>) -> Reading<T> {
    match result {
        Ok(value) => Reading::Known(value),
        Err(error) => match error.kind {
            ErrorKind::Forbidden(_) => Reading::NotPermitted(Refusal::from(error::message(&error))),
            _ => Reading::Unavailable(error::message(&error)),
        },
    }
}

/// Returns the flavors that can be used, the smallest first.
pub fn flavor_options(flavors: &[Flavor]) -> Vec<FlavorOption> {
    let usable = flavors.iter().filter(|flavor| !flavor.disabled);
    let mut options: Vec<_> = usable
        .map(|flavor| FlavorOption {
            id: flavor.id.clone(),
            name: flavor.name.clone(),
            vcpus: flavor.vcpus.into(),
            ram_mib: flavor.ram,
            disk_gib: flavor.disk,
        })
        .collect();
    options.sort_by(|one, other| {
        (one.vcpus, one.ram_mib, &one.name).cmp(&(other.vcpus, other.ram_mib, &other.name))
    });
    options
}

/// Returns the networks with their subnets, in two requests.
async fn networks(clients: &Clients, token: &ScopedToken) -> Result<Listing<NetworkOption>, Error> {
    let neutron = &clients.neutron;
    let (networks, subnets) = tokio::join!(neutron.networks(token), neutron.usable_subnets(token));
    let networks = networks?;
    // without them the first subnet of a network is used
    let mut of_network: BTreeMap<String, Vec<SubnetOption>> = BTreeMap::new();
    for subnet in subnets.map(|listing| listing.items).unwrap_or_default() {
        let option = SubnetOption {
            id: subnet.id,
            name: subnet.name,
            cidr: subnet.cidr,
            free_addresses: None,
        };
        of_network
            .entry(subnet.network_id)
            .or_default()
            .push(option);
    }
    let mut options: Vec<_> = networks
        .items
        .into_iter()
        .map(|network| NetworkOption {
            // the subnets of external networks are not for nodes
            subnets: if network.is_external {
                Vec::new()
            } else {
                of_network.remove(&network.id).unwrap_or_default()
            },
            id: network.id,
            name: network.name,
            is_external: network.is_external,
            is_shared: network.shared,
        })
        .collect();
    options.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    Ok(Listing {
        items: options,
        cut: networks.cut,
    })
}

/// Returns a label for suggestions; `None` for one that is a field of the form.
fn label_option(label: &KnownLabel) -> Option<LabelOption> {
    let is_field = !field_of_label(label.key).starts_with("spec.labels.");
    if is_field {
        return None;
    }
    let values: &[&str] = match label.values {
        Values::Flag => &["true", "false"],
        Values::OneOf(values) => values,
        Values::Number | Values::Version | Values::Networks | Values::Text => &[],
    };
    let values = values.iter().filter(|value| !value.is_empty());
    Some(LabelOption {
        key: label.key.to_owned(),
        meaning: label.meaning.to_owned(),
        values: values.map(|value| (*value).to_owned()).collect(),
    })
}
