//! The templates of the project with what the viewer may do with each.
use crate::{
    caller::Caller,
    service::{
        Services,
        error::ServiceError,
        lifecycle::{
            creation::{TemplateSources, reading, template_cards},
            error,
            viewer::Viewer,
        },
    },
};
use jiff::{Timestamp, tz::TimeZone};
use portico_cluster_operations::{Clients, mapping, templates::users};
use portico_domain::{
    identity::Named,
    panel::{
        Reading,
        lifecycle::{
            ClusterTemplates, TemplateChoices, TemplateDetails, TemplateLabel, TemplateOption,
            TemplateRefusals, TemplateRow, TemplateValues,
        },
    },
};
use portico_lifecycle::{
    driver::{Cloud, Driver},
    labels,
    rights::Call,
};
use portico_openstack::{
    glance::Image,
    magnum::{Cluster, ClusterTemplate},
    rest::{Error, Listing},
};
use uuid::Uuid;

/// Returns the templates that the caller's project may use.
///
/// # Errors
/// Those of [`crate::service::lifecycle::list()`].
pub async fn templates(
    services: &Services,
    caller: &Caller,
) -> Result<ClusterTemplates, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    list(&access.clients, &viewer, services.clock.now()).await
}

/// Returns a template with its labels, and with what the caller may do.
///
/// # Errors
/// `NotFound` if the project may not use it; else those of [`templates`].
pub async fn template(
    services: &Services,
    caller: &Caller,
    template: Uuid,
) -> Result<TemplateDetails, ServiceError> {
    let access = services.magnum()?;
    let viewer = access.viewer(caller).await?;
    details(&access.clients, &viewer, template, services.clock.now()).await
}

pub(super) async fn list(
    clients: &Clients,
    viewer: &Viewer,
    now: Timestamp,
) -> Result<ClusterTemplates, ServiceError> {
    let (found, context) = tokio::join!(
        clients.magnum.templates(&viewer.token),
        Context::read(clients, viewer),
    );
    let mut context = context?;
    let found = found.map_err(|error| error::of_service(&error))?;
    context.gaps.extend(gap("templates", &found));
    let cards = context.cards(&found.items, clients, now);
    let rows = cards.iter().filter_map(|card| {
        let template = found.items.iter().find(|one| one.uuid == card.id)?;
        Some(context.row(card, template, viewer))
    });
    Ok(ClusterTemplates {
        templates: rows.collect(),
        gaps: context.gaps,
    })
}

pub(super) async fn details(
    clients: &Clients,
    viewer: &Viewer,
    uuid: Uuid,
    now: Timestamp,
) -> Result<TemplateDetails, ServiceError> {
    let (found, context, mut choices) = tokio::join!(
        visible(clients, viewer, uuid),
        Context::read(clients, viewer),
        choices(clients, viewer),
    );
    let (found, mut context) = (found?, context?);
    let cards = context.cards(std::slice::from_ref(&found), clients, now);
    // one card for each template
    let card = cards.into_iter().next().ok_or_else(no_such_template)?;
    context.gaps.append(&mut choices.gaps);
    choices.offered.images = context.image_names();
    let driver = mapping::template(&found, &clients.drivers).driver;
    let row = context.row(&card, &found, viewer);
    Ok(TemplateDetails {
        refusals: refusals(&found, &context.clusters, viewer),
        template: row,
        values: values(&found),
        labels: labels_of(&found, driver),
        fixed: card.fixed,
        capabilities: card.capabilities,
        choices: choices.offered,
        gaps: context.gaps,
    })
}

/// Returns a template that the viewer's project may use.
///
/// # Errors
/// `NotFound`, also for a private one of another project that an administrator could read; else Magnum's
/// refusal, or that it cannot be asked.
pub(super) async fn visible(
    clients: &Clients,
    viewer: &Viewer,
    uuid: Uuid,
) -> Result<ClusterTemplate, ServiceError> {
    match clients.magnum.template(&viewer.token, uuid).await {
        Ok(found) if found.public || is_own(&found, viewer) => Ok(found),
        Ok(_) => Err(no_such_template()),
        Err(error) if error.is_not_found() => Err(no_such_template()),
        Err(error) => Err(error::of_service(&error)),
    }
}

/// Returns why the viewer may not change a template.
pub(super) fn refusals(
    template: &ClusterTemplate,
    clusters: &Listing<Cluster>,
    viewer: &Viewer,
) -> TemplateRefusals {
    let of_other_project = || {
        let text = "It belongs to another project. Make a copy, which belongs to this project.";
        (!is_own(template, viewer)).then(|| text.to_owned())
    };
    let flag = || of_other_project().or_else(|| viewer.refusal(Call::PublishTemplate, None));
    let in_use = || in_use(template, clusters);
    TemplateRefusals {
        copy: viewer.refusal(Call::CreateTemplate, None),
        publish: flag().or_else(|| {
            // Magnum publishes a template in use, but does not take it back
            let used = template.public.then(in_use).flatten()?;
            Some(format!(
                "Only unused templates become private again. {used}"
            ))
        }),
        hide: flag(),
        delete: of_other_project()
            .or_else(|| viewer.refusal(Call::DeleteTemplate, None))
            .or_else(in_use),
    }
}

/// Returns which clusters of the project use a template, as a refusal.
fn in_use(template: &ClusterTemplate, clusters: &Listing<Cluster>) -> Option<String> {
    let users = users(&clusters.items, template.uuid).into_iter();
    let names: Vec<_> = users.map(|cluster| cluster.name.as_str()).collect();
    if !names.is_empty() {
        return Some(format!(
            "It is used by {}. Upgrade these clusters to another template, or delete them, first.",
            names.join(", ")
        ));
    }
    let cut = clusters.cut?;
    Some(format!(
        "It is not known whether a cluster uses it, because the list of clusters is incomplete: {cut}. Try \
         again in a minute."
    ))
}

/// Returns whether a template belongs to the viewer's project. Old versions of Magnum do not name the
/// project.
fn is_own(template: &ClusterTemplate, viewer: &Viewer) -> bool {
    template.project_id.is_empty() || template.project_id == viewer.project_id()
}

fn no_such_template() -> ServiceError {
    ServiceError::not_found("This project has no such cluster template.")
        .next("Open the list of templates: it may have been deleted, or made private.")
}

/// What is read besides a template.
struct Context {
    cloud: Cloud,
    clusters: Listing<Cluster>,
    images: Result<Vec<Image>, Error>,
    gaps: Vec<String>,
}

impl Context {
    async fn read(clients: &Clients, viewer: &Viewer) -> Result<Self, ServiceError> {
        let token = &viewer.token;
        let (cloud, clusters, images) = tokio::join!(
            clients.offer(token),
            clients.magnum.clusters(token),
            clients.glance.images(token),
        );
        let cloud = cloud.map_err(|error| error::of_service(&error))?;
        let clusters = clusters.map_err(|error| error::of_service(&error))?;
        let mut gaps = Vec::new();
        gaps.extend(gap("clusters", &clusters));
        match &images {
            Ok(listing) => gaps.extend(gap("images", listing)),
            Err(error) => gaps.push(format!(
                "The images could not be read, so the version of some templates is not known. {}",
                error::message(error)
            )),
        }
        let images = images.map(|listing| listing.items);
        Ok(Self {
            cloud,
            clusters,
            images,
            gaps,
        })
    }

    fn cards(
        &self,
        templates: &[ClusterTemplate],
        clients: &Clients,
        now: Timestamp,
    ) -> Vec<TemplateOption> {
        let sources = TemplateSources {
            cloud: self.cloud,
            clusters: &self.clusters.items,
            images: self.images.as_deref().unwrap_or_default(),
            today: now.to_zoned(TimeZone::UTC).date(),
            usual_seconds: &|_| None,
        };
        template_cards(templates, &sources, &clients.drivers)
    }

    /// Returns the names of the images as suggestions.
    fn image_names(&self) -> Reading<Vec<String>> {
        let images = self.images.as_deref().map_err(Clone::clone);
        reading(images.map(|images| sorted(images.iter().map(|image| image.name.clone()))))
    }

    fn row(
        &self,
        card: &TemplateOption,
        template: &ClusterTemplate,
        viewer: &Viewer,
    ) -> TemplateRow {
        let users = users(&self.clusters.items, template.uuid).into_iter();
        TemplateRow {
            id: template.uuid,
            name: template.name.clone(),
            version: card.version.clone(),
            driver: card.driver.clone(),
            flavor: template.flavor_id.clone(),
            control_plane_flavor: template.master_flavor_id.clone(),
            is_public: template.public,
            is_hidden: template.hidden,
            is_own: is_own(template, viewer),
            used_by: users
                .map(|cluster| Named {
                    id: cluster.uuid.to_string(),
                    name: cluster.name.clone(),
                })
                .collect(),
            refusal: card.refusal.clone(),
        }
    }
}

fn values(template: &ClusterTemplate) -> TemplateValues {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    TemplateValues {
        name: template.name.clone(),
        image: text(&template.image_id),
        flavor: text(&template.flavor_id),
        control_plane_flavor: text(&template.master_flavor_id),
        keypair: text(&template.keypair_id),
        external_network: text(&template.external_network_id),
        network: text(&template.fixed_network),
        subnet: text(&template.fixed_subnet),
        labels: template.labels.clone(),
    }
}

fn labels_of(template: &ClusterTemplate, driver: Driver) -> Vec<TemplateLabel> {
    let lines = template.labels.iter().map(|(key, value)| {
        let known = labels::known(key);
        let problem = known.and_then(|label| label.values.problem(value));
        TemplateLabel {
            key: key.clone(),
            value: value.clone(),
            meaning: known.map(|label| label.meaning.to_owned()),
            notes: problem
                .into_iter()
                .chain(labels::ignored(key, driver))
                .collect(),
        }
    });
    lines.collect()
}

/// Suggestions, and which of them are not complete.
struct Choices {
    offered: TemplateChoices,
    gaps: Vec<String>,
}

/// Returns the suggestions for a copy, without the images. A service that does not answer leaves its field
/// to be typed.
async fn choices(clients: &Clients, viewer: &Viewer) -> Choices {
    let token = &viewer.token;
    let (flavors, keypairs, networks) = tokio::join!(
        clients.nova.flavors(token),
        clients.nova.key_pairs(token),
        clients.neutron.networks(token),
    );
    let mut gaps = Vec::new();
    gaps.extend(flavors.as_ref().ok().and_then(|all| gap("flavors", all)));
    gaps.extend(networks.as_ref().ok().and_then(|all| gap("networks", all)));
    let flavors = flavors.map(|all| sorted(all.items.into_iter().map(|one| one.name)));
    let keypairs = keypairs.map(|all| sorted(all.into_iter().map(|one| one.name)));
    let networks = networks.map(|all| sorted(all.items.into_iter().map(|one| one.name)));
    Choices {
        offered: TemplateChoices {
            images: Reading::Known(Vec::new()),
            flavors: reading(flavors),
            keypairs: reading(keypairs),
            networks: reading(networks),
        },
        gaps,
    }
}

/// Returns that a list ends early, as a sentence.
fn gap<T>(what: &str, listing: &Listing<T>) -> Option<String> {
    let cut = listing.cut?;
    Some(format!("The list of {what} is incomplete: {cut}."))
}

/// Returns names in their order, each once.
fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
    names.sort();
    names.dedup();
    names
}
