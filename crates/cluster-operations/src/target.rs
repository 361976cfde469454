//! An existing cluster that is to be changed in one part, such as a node group: the part is planned as a
//! file that describes nothing else would be.
use crate::clients::Clients;
use crate::mapping;
use crate::upgrades::group_size;
use crate::usages::{flavors, usages};
use portico_lifecycle::driver::Cloud;
use portico_lifecycle::labels::Labels;
use portico_lifecycle::model::{Cluster, NodeGroup, Template};
use portico_lifecycle::plan::{Plan, PlanContext, Present, plan};
use portico_lifecycle::quota::{Change, Projection, project, resize};
use portico_lifecycle::spec::{
    ClusterDocument, ClusterSpec, ControlPlane, Metadata, NodeGroupSpec, Problem, validate,
};
use portico_openstack::magnum;
use portico_openstack::rest::{Cut, Error, ScopedToken};
use uuid::Uuid;

/// A cluster to change.
#[derive(Clone, Debug)]
pub struct Target {
    pub uuid: Uuid,
    pub cluster: Cluster,
    /// With bounds, labels and taints.
    pub groups: Vec<NodeGroup>,
    /// Why not all groups are known.
    pub cut: Option<Cut>,
    /// The template that the cluster was made from; without its values if it was deleted or is not
    /// visible.
    pub template: Template,
    /// Whether the template exists and is visible, which names the driver.
    pub has_template: bool,
    pub cloud: Cloud,
}

impl Target {
    /// Reads what belongs to a cluster.
    ///
    /// # Errors
    /// If Magnum cannot be asked.
    pub async fn read(
        clients: &Clients,
        token: &ScopedToken,
        found: &magnum::Cluster,
    ) -> Result<Self, Error> {
        let (target, _) = Self::read_with_groups(clients, token, found).await?;
        Ok(target)
    }

    /// Reads the same, and returns the node groups also as Magnum has them: with the addresses of their
    /// nodes.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn read_with_groups(
        clients: &Clients,
        token: &ScopedToken,
        found: &magnum::Cluster,
    ) -> Result<(Self, Vec<magnum::NodeGroup>), Error> {
        let (template, groups, cloud) = tokio::join!(
            clients.template_of(token, found),
            clients.detailed_groups(token, found.uuid),
            clients.offer(token),
        );
        let (template, groups) = (template?, groups?);
        let cluster = clients.model(found, template.as_ref());
        let target = Self {
            uuid: found.uuid,
            groups: groups.items.iter().map(mapping::detailed_group).collect(),
            cut: groups.cut,
            has_template: template.is_some(),
            template: match template {
                Some(template) => mapping::template(&template, &clients.drivers),
                None => deleted_template(&cluster),
            },
            cloud: cloud?,
            cluster,
        };
        Ok((target, groups.items))
    }

    /// Returns a node group by its name or UUID.
    pub fn group(&self, wanted: &str) -> Option<&NodeGroup> {
        let mut groups = self.groups.iter();
        groups.find(|group| group.name == wanted || group.uuid == wanted)
    }

    /// Returns the steps to a specification that describes a part of the cluster only, to `template`
    /// where that is another one.
    ///
    /// # Errors
    /// What is wrong with the specification.
    pub fn plan(&self, spec: ClusterSpec, template: &Template) -> Result<Plan, Vec<Problem>> {
        let metadata = Metadata {
            name: self.cluster.name.clone(),
            ..Metadata::default()
        };
        let spec = ClusterSpec {
            template: template.uuid.clone(),
            ..spec
        };
        let document = ClusterDocument::new(metadata, spec);
        let problems = validate(&document);
        if !problems.is_empty() {
            return Err(problems);
        }
        let context = PlanContext {
            template,
            cloud: self.cloud,
            prune: false,
        };
        let present = Present {
            cluster: &self.cluster,
            groups: &self.groups,
        };
        let mut plan = plan(Some(present), &document, context);
        // the other node groups are not in the specification, on purpose
        plan.notes.retain(|note| !note.contains("--prune"));
        Ok(plan)
    }

    /// Returns the steps to one node group as it is wanted.
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub fn plan_of_group(&self, group: NodeGroupSpec) -> Result<Plan, Vec<Problem>> {
        let spec = ClusterSpec {
            node_groups: vec![group],
            ..ClusterSpec::default()
        };
        self.plan(spec, &self.template)
    }

    /// Returns the step to a number of control plane nodes.
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub fn plan_of_control_plane(&self, nodes: u32) -> Result<Plan, Vec<Problem>> {
        let control_plane = ControlPlane {
            replicas: Some(nodes),
            ..ControlPlane::default()
        };
        let spec = ClusterSpec {
            control_plane,
            ..ClusterSpec::default()
        };
        self.plan(spec, &self.template)
    }

    /// Compares what more nodes of a flavor need with the quotas; nothing if the flavor is not known.
    pub async fn quotas(
        &self,
        clients: &Clients,
        token: &ScopedToken,
        flavor: Option<&str>,
        now: u32,
        wanted: u32,
    ) -> Vec<Projection> {
        let flavor = flavor
            .or(self.cluster.flavor.as_deref())
            .unwrap_or_default();
        let (flavors, usages) = tokio::join!(flavors(clients, token), usages(clients, token, None));
        let Some(size) = flavors.get(flavor) else {
            return Vec::new();
        };
        let group = group_size(&self.cluster, *size, now);
        project(&usages, &resize(&group, wanted.into()), &Change::new())
    }
}

/// Returns a template of which only the UUID is known.
fn deleted_template(cluster: &Cluster) -> Template {
    Template {
        uuid: cluster.template.clone(),
        name: cluster.template.clone(),
        driver: cluster.driver,
        flavor: None,
        master_flavor: None,
        keypair: None,
        network: None,
        subnet: None,
        has_floating_ips: false,
        has_load_balancer: false,
        docker_volume_size: None,
        labels: Labels::default(),
        image_version: None,
        distribution: None,
        network_driver: None,
        is_hidden: false,
        has_proxy: false,
    }
}
