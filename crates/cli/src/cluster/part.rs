//! Changes of one part of an existing cluster, such as a node group: the part is planned as a file that
//! describes nothing else would be.
use super::apply;
use super::arguments::ChangeArgs;
use super::checks;
use super::connection::Connection;
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use super::follow::{Following, follow};
use super::steps;
use jiff::Timestamp;
use portico_cluster_operations::mapping;
use portico_cluster_operations::upgrades::group_size;
use portico_cluster_operations::usages::{flavors, usages};
use portico_lifecycle::capabilities::{Feature, capability};
use portico_lifecycle::driver::Cloud;
use portico_lifecycle::labels::Labels;
use portico_lifecycle::model::{Cluster, NodeGroup, Template};
use portico_lifecycle::plan::{Plan, PlanContext, Present, plan};
use portico_lifecycle::preflight::Checks;
use portico_lifecycle::progress::Followed;
use portico_lifecycle::quota::{Change, FlavorSize, GroupSize, Projection, project, resize};
use portico_lifecycle::spec::{
    ClusterDocument, ClusterSpec, ControlPlane, Metadata, NodeGroupSpec,
};
use portico_lifecycle::status::{self, Operation};
use std::time::Duration;
use uuid::Uuid;

/// A cluster to change.
pub struct Target {
    pub uuid: Uuid,
    pub cluster: Cluster,
    pub groups: Vec<NodeGroup>,
    /// The template that the cluster was made from; without its values if it was deleted or is not visible.
    pub template: Template,
    /// Whether the template exists and is visible, which names the driver.
    pub has_template: bool,
    pub cloud: Cloud,
}

impl Target {
    /// Reads a cluster by its name or UUID. If another change of it is running and the command waits, it
    /// waits until that has finished.
    ///
    /// # Errors
    /// If the cluster does not exist or has an ambiguous name, or Magnum cannot be asked; how waiting
    /// ended.
    pub async fn open(
        connection: &mut Connection,
        console: &mut Console,
        wanted: &str,
        args: &ChangeArgs,
    ) -> Result<Self, ClusterError> {
        let target = Self::read_named(connection, wanted).await?;
        let status = &target.cluster.status;
        let is_waiting = args.waiting.is_wanted(false) && !args.dry_run;
        if !is_waiting || !status.is_in_progress() || status.is_deletion() {
            return Ok(target);
        }
        console.say(format!(
            "Another change of {} is running ({status}); waiting until it has finished.",
            target.cluster.name
        ));
        settle(connection, console, &target, args.waiting.timeout).await?;
        Self::read(connection, target.uuid).await
    }

    /// Reads a cluster by its name or UUID.
    ///
    /// # Errors
    /// If the cluster does not exist or has an ambiguous name, or Magnum cannot be asked.
    pub async fn read_named(connection: &Connection, wanted: &str) -> Result<Self, ClusterError> {
        let magnum = &connection.clients.magnum;
        let found = magnum.cluster_named(&connection.token, wanted).await?;
        Self::read(connection, found.uuid).await
    }

    async fn read(connection: &Connection, uuid: Uuid) -> Result<Self, ClusterError> {
        let magnum = &connection.clients.magnum;
        let found = magnum.cluster(&connection.token, uuid).await?;
        let template = connection.template_of(&found).await?;
        let groups = connection.detailed_groups(uuid).await?;
        let cluster = connection.model(&found, template.as_ref());
        Ok(Self {
            uuid,
            groups: groups.iter().map(mapping::detailed_group).collect(),
            has_template: template.is_some(),
            template: match template {
                Some(template) => mapping::template(&template, &connection.clients.drivers),
                None => deleted_template(&cluster),
            },
            cloud: connection.offer().await?,
            cluster,
        })
    }

    /// Returns a node group by its name or UUID.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] if the cluster has no such group.
    pub fn group(&self, wanted: &str) -> Result<&NodeGroup, ClusterError> {
        let mut groups = self.groups.iter();
        let found = groups.find(|group| group.name == wanted || group.uuid == wanted);
        found.ok_or_else(|| {
            let names: Vec<_> = self.groups.iter().map(|one| one.name.as_str()).collect();
            ClusterError::Blocked {
                exit: exit_code::NOT_FOUND,
                text: format!(
                    "{} has no node group {wanted}; it has {}",
                    self.cluster.name,
                    names.join(", ")
                ),
            }
        })
    }

    /// Returns the steps to a specification that describes a part of the cluster only, to `template`
    /// where that is another one.
    ///
    /// # Errors
    /// [`ClusterError::Blocked`] with what is wrong with the specification.
    pub fn plan(&self, spec: ClusterSpec, template: &Template) -> Result<Plan, ClusterError> {
        let metadata = Metadata {
            name: self.cluster.name.clone(),
            ..Metadata::default()
        };
        let spec = ClusterSpec {
            template: template.uuid.clone(),
            ..spec
        };
        let document = ClusterDocument::new(metadata, spec);
        apply::ensure_valid(&document, "the change is invalid")?;
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
    pub fn plan_of_group(&self, group: NodeGroupSpec) -> Result<Plan, ClusterError> {
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
    pub fn plan_of_control_plane(&self, nodes: u32) -> Result<Plan, ClusterError> {
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
        connection: &Connection,
        flavor: Option<&str>,
        now: u32,
        wanted: u32,
    ) -> Vec<Projection> {
        let (clients, token) = (&connection.clients, &connection.token);
        let flavor = flavor
            .or(self.cluster.flavor.as_deref())
            .unwrap_or_default();
        let (flavors, usages) = tokio::join!(flavors(clients, token), usages(clients, token, None));
        let Some(size) = flavors.get(flavor) else {
            return Vec::new();
        };
        let group = self.size(*size, now);
        project(&usages, &resize(&group, wanted.into()), &Change::new())
    }

    /// Returns the size of a group of this cluster.
    pub fn size(&self, flavor: FlavorSize, nodes: u32) -> GroupSize {
        group_size(&self.cluster, flavor, nodes)
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

/// Shows a plan, asks where nodes are removed, and carries it out; returns the exit code.
///
/// # Errors
/// [`ClusterError::Blocked`] if it cannot be carried out: nothing was sent then. How a step ended.
pub async fn carry_out(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    plan: &Plan,
    args: &ChangeArgs,
) -> Result<u8, ClusterError> {
    let name = &target.cluster.name;
    apply::print(console, args.shared.output, name, plan)?;
    apply::ensure_applicable(plan, "the change cannot be made")?;
    if args.dry_run {
        console.say("Nothing was sent.");
        return Ok(apply::difference(plan));
    }
    let Some(first) = plan.steps.first() else {
        console.say("Nothing to change.");
        return Ok(0);
    };
    apply::confirm(console, args.yes, plan, name)?;
    let waiting = &args.waiting;
    let waits = waiting.is_wanted(plan.steps.len() > 1);
    if !waits && plan.steps.len() > 1 {
        return Err(ClusterError::Usage(
            "each step begins when the one before it has ended: leave out --no-wait".to_owned(),
        ));
    }
    if waits {
        apply::carry_out(connection, console, plan, target.uuid, waiting.timeout, 0).await?;
        return Ok(0);
    }
    let uuid = target.uuid;
    steps::send(connection, &first.action, uuid, waiting.timeout).await?;
    console.say(format!(
        "Magnum has accepted the request. Watch it with `portico cluster watch {uuid}`."
    ));
    Ok(0)
}

/// Refuses what the cluster's driver or the cloud's Magnum does not support.
///
/// # Errors
/// [`ClusterError::Blocked`] with the first reason.
pub fn ensure_supported(target: &Target, features: &[Feature]) -> Result<(), ClusterError> {
    let capabilities = features
        .iter()
        .map(|feature| capability(target.cluster.driver, target.cloud, *feature));
    let mut refused = capabilities.filter(|capability| !capability.is_offered());
    match refused.next() {
        Some(capability) => Err(ClusterError::Blocked {
            exit: exit_code::UNSUPPORTED,
            text: format!(
                "the change cannot be made; nothing was sent\n  {}",
                capability.reason
            ),
        }),
        None => Ok(()),
    }
}

/// Refuses an operation that the cluster's state forbids.
///
/// # Errors
/// [`ClusterError::Blocked`] with the state and the next step.
pub fn ensure_state(target: &Target, operation: Operation) -> Result<(), ClusterError> {
    status::check(&target.cluster.status, operation).map_err(|forbidden| ClusterError::Blocked {
        exit: exit_code::CONFLICT,
        text: forbidden.reason,
    })
}

/// Waits until the running change of a cluster has ended, also with a failure: another change may be its
/// remedy.
async fn settle(
    connection: &mut Connection,
    console: &mut Console,
    target: &Target,
    timeout: Duration,
) -> Result<(), ClusterError> {
    let Some(followed) = Followed::running(&target.cluster, None) else {
        return Ok(());
    };
    let following = Following {
        uuid: target.uuid,
        name: target.cluster.name.clone(),
        family: target.cluster.driver.family,
        followed,
        since: Timestamp::now(),
        timeout,
        has_json_lines: false,
    };
    match follow(connection, console, following).await {
        Ok(()) | Err(ClusterError::Failed(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Refuses a change that the checks do not permit, and reports warnings.
///
/// # Errors
/// [`ClusterError::Blocked`] with all reasons and the exit code of the first.
pub fn ensure_permitted(console: &mut Console, found: &Checks) -> Result<(), ClusterError> {
    checks::ensure(found, "the change cannot be made")?;
    checks::warn(found, console);
    Ok(())
}
