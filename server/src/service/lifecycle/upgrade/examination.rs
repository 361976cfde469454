//! What is read about a cluster before an upgrade.
use crate::service::{
    error::ServiceError,
    lifecycle::{error, own, viewer::Viewer},
};
use jiff::Timestamp;
use portico_cluster_operations::{
    Clients,
    certificate::Certificate,
    inside::Inside,
    mapping,
    upgrades::{self, Present},
};
use portico_domain::panel::lifecycle::UpgradeTarget;
use portico_lifecycle::{
    capabilities::{Feature, capability},
    driver::Cloud,
    model::{Cluster, NodeGroup, Template},
    plan::{UpgradeChoice, upgradable_groups, upgrade_refusal},
    preflight::Reading,
    rights::Call,
    status::{self, Operation},
};
use portico_openstack::magnum::{self, Authority};
use uuid::Uuid;

/// A cluster, and what it could be upgraded to.
pub struct Examination {
    pub found: magnum::Cluster,
    pub cluster: Cluster,
    pub cloud: Cloud,
    pub groups: Vec<NodeGroup>,
    /// The present template, if it can be read.
    pub template: Option<Template>,
    /// All templates of the project.
    templates: Vec<Template>,
    certificate_days: Reading<i64>,
    /// What could not be read, as sentences.
    pub gaps: Vec<String>,
}

impl Examination {
    /// Reads a cluster of the viewer's project and the templates.
    ///
    /// # Errors
    /// `NotFound` if the project has no such cluster; Magnum's refusal, or that it cannot be asked.
    pub async fn read(
        clients: &Clients,
        viewer: &Viewer,
        cluster: Uuid,
        now: Timestamp,
    ) -> Result<Self, ServiceError> {
        let found = own::cluster(clients, viewer, cluster).await?;
        let token = &viewer.token;
        let (present, groups, templates, cloud, certificate_days) = tokio::join!(
            clients.template_of(token, &found),
            clients.groups(token, found.uuid),
            upgrades::templates(clients, token),
            clients.offer(token),
            certificate_days(clients, viewer, &found, now),
        );
        let present = present.map_err(|error| error::of_service(&error))?;
        let templates = templates.map_err(|error| error::of_service(&error))?;
        let cloud = cloud.map_err(|error| error::of_service(&error))?;
        let mut gaps = Vec::new();
        gaps.extend(
            templates
                .cut
                .map(|cut| format!("The list of templates is incomplete: {cut}.")),
        );
        let groups = match groups {
            Ok(groups) => {
                gaps.extend(
                    groups
                        .cut
                        .map(|cut| format!("The list of node groups is incomplete: {cut}.")),
                );
                groups.items.iter().map(mapping::group).collect()
            }
            Err(error) => {
                gaps.push(format!(
                    "The node groups could not be read. {}",
                    error::message(&error)
                ));
                Vec::new()
            }
        };
        let cluster = clients.model(&found, present.as_ref());
        // the list has the version of the image too
        let mut listed = templates.items.iter();
        let listed = listed.find(|template| template.uuid == cluster.template);
        let template = listed.cloned().or_else(|| {
            let present = present.as_ref()?;
            Some(mapping::template(present, &clients.drivers))
        });
        if template.is_none() {
            gaps.push(
                "The cluster's template could not be read: the driver is concluded from the cluster."
                    .to_owned(),
            );
        }
        Ok(Self {
            found,
            cluster,
            cloud,
            groups,
            template,
            templates: templates.items,
            certificate_days,
            gaps,
        })
    }

    /// Returns the cluster for the checks; `inside` is what runs in it.
    pub fn present<'a>(&'a self, inside: &'a Inside, choice: &'a UpgradeChoice) -> Present<'a> {
        Present {
            cluster: &self.cluster,
            groups: &self.groups,
            template: self.template.as_ref(),
            cloud: self.cloud,
            health: self.found.health_status.as_ref(),
            certificate_days: &self.certificate_days,
            inside,
            choice,
        }
    }

    /// Returns a template to which what was chosen may change: the cluster to another one than the present, a
    /// single node group to the present one; `None` for others.
    pub fn target(&self, id: Uuid, choice: &UpgradeChoice) -> Option<&Template> {
        let uuid = id.to_string();
        if choice.group.is_some() {
            return self.template.as_ref().filter(|one| one.uuid == uuid);
        }
        let mut others = self.others();
        others.find(|template| template.uuid == uuid)
    }

    /// Returns the names of the node groups that can be upgraded alone.
    pub fn single_groups(&self) -> Vec<String> {
        // they are upgraded to the template of the cluster, which has to be known
        let groups = match self.template {
            Some(_) => upgradable_groups(&self.cluster, &self.groups, self.cloud),
            None => Vec::new(),
        };
        groups.into_iter().map(|group| group.name.clone()).collect()
    }

    /// Returns whether the driver heeds how many nodes are to be replaced at once.
    pub fn has_batch_size(&self) -> bool {
        let feature = Feature::UpgradeBatchSize;
        capability(self.cluster.driver, self.cloud, feature).is_offered()
    }

    /// Returns all templates but the present one; those that are offered first, then by version and name.
    pub fn targets(&self) -> Vec<UpgradeTarget> {
        let mut others: Vec<_> = self.others().collect();
        others.sort_by_cached_key(|template| {
            let is_refused = upgrade_refusal(&self.cluster, template, self.cloud).is_some();
            (
                is_refused,
                template.kubernetes_version(),
                template.name.clone(),
            )
        });
        let targets = others.into_iter();
        targets
            .filter_map(|template| self.target_view(template))
            .collect()
    }

    /// Returns a template as the page shows it; `None` if its UUID is not one.
    pub fn target_view(&self, template: &Template) -> Option<UpgradeTarget> {
        let version = template.kubernetes_version();
        Some(UpgradeTarget {
            id: template.uuid.parse().ok()?,
            name: template.name.clone(),
            version: version.map(|version| version.to_string()),
            refusal: upgrade_refusal(&self.cluster, template, self.cloud),
        })
    }

    fn others(&self) -> impl Iterator<Item = &Template> {
        let templates = self.templates.iter();
        templates.filter(|template| template.uuid != self.cluster.template)
    }
}

/// Returns the days until the certificate of the authority expires, or why that is not known: Magnum gives the
/// certificate to the creator of the cluster only.
async fn certificate_days(
    clients: &Clients,
    viewer: &Viewer,
    found: &magnum::Cluster,
    now: Timestamp,
) -> Reading<i64> {
    let creator = Some(found.user_id.as_str()).filter(|id| !id.is_empty());
    if let Some(reason) = viewer.refusal(Call::ReadAuthority, creator) {
        return Reading::NotChecked(reason);
    }
    let magnum = &clients.magnum;
    let read = magnum.authority(&viewer.token, found.uuid, Authority::Kubernetes);
    let pem = match read.await {
        Ok(pem) => pem,
        Err(error) => return Reading::NotChecked(error::message(&error)),
    };
    match Certificate::read(&pem) {
        Ok(certificate) => Reading::Known(certificate.days_left(now.as_second())),
        Err(error) => Reading::NotChecked(error::sentence(&error.to_string())),
    }
}

/// Returns why a cluster cannot be upgraded by a viewer, whatever the template: the policy, the driver or
/// the state. `cloud` is what Magnum offers, if it is known.
pub fn refusal(viewer: &Viewer, cluster: &Cluster, cloud: Option<Cloud>) -> Option<String> {
    let refusal = viewer.refusal(Call::UpgradeCluster, cluster.user_id.as_deref());
    refusal
        .or_else(|| {
            let support = capability(cluster.driver, cloud?, Feature::Upgrade);
            (!support.is_offered()).then_some(support.reason)
        })
        .or_else(|| {
            let forbidden = status::check(&cluster.status, Operation::Upgrade).err();
            forbidden.map(|forbidden| forbidden.reason)
        })
}
