//! What a creation would do, before anything is sent: plan, labels, quotas, checks, and the request.
use std::{collections::BTreeMap, net::IpAddr};

use serde_json::{Map, Value, json};

use crate::{
    driver::Cloud,
    labels::{self, LabelRow},
    model::Template,
    plan::{Plan, PlanContext, plan},
    preflight::{Check, Checks, CreationContext, Level, before_creation},
    quota::{self, Change, ClusterSize, FlavorSize, Projection, Resource, Usages},
    spec::{ClusterDocument, CommandLine, create_request, effective, request_labels},
};

/// What is known before a creation. `None`: the caller could not find out.
#[derive(Clone, Copy, Debug)]
pub struct ReviewContext<'a> {
    /// The specification as the user gave it.
    pub document: &'a ClusterDocument,
    /// The template that it names.
    pub template: &'a Template,
    /// What the cloud's Magnum offers.
    pub cloud: Cloud,
    /// What the project uses, and may use.
    pub usages: &'a Usages,
    /// The sizes of the flavors, by name and by ID; without them, only the cluster itself is counted.
    pub flavors: &'a BTreeMap<String, FlavorSize>,
    /// UUIDs of clusters of the project with the same name.
    pub same_name: &'a [String],
    /// Whether the user's roles permit `cluster:create`.
    pub is_permitted: Option<bool>,
    /// Whether a conductor of Magnum is up.
    pub has_conductor: Option<bool>,
    /// Free addresses of the chosen subnet.
    pub free_addresses: Option<u64>,
    /// The address from which the user would use the cluster.
    pub client: Option<IpAddr>,
}

/// A creation, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The specification with every default filled in.
    pub document: ClusterDocument,
    /// The template that it names.
    pub template: Template,
    /// The creation, and the steps that follow it.
    pub plan: Plan,
    /// The body of `POST /clusters`, without the marker of [`crate::idempotency`].
    pub request: Map<String, Value>,
    /// What was set for a reason other than that the template has it, as sentences.
    pub adjustments: Vec<String>,
    /// The labels of the template, yours, and the result.
    pub labels: Vec<LabelRow>,
    /// The quotas now and after.
    pub projections: Vec<Projection>,
    /// All checks, also those that pass.
    pub checks: Checks,
    /// The command line that creates the same cluster.
    pub command: String,
}

impl Review {
    /// Returns why the creation must not be sent: the checks that block it, then the refusals of the
    /// plan, with the subject "Plan". Empty: it can be sent.
    pub fn refusals(&self) -> Vec<Check> {
        let checks = self.checks.0.iter();
        let blocking = checks.filter(|check| check.level == Level::Blocks).cloned();
        let refusals = self.plan.steps.iter().filter_map(|step| {
            Some(Check {
                subject: "Plan",
                level: Level::Blocks,
                text: step.refusal.clone()?,
            })
        });
        blocking.chain(refusals).collect()
    }
}

/// Reviews a creation.
pub fn review(context: &ReviewContext<'_>) -> Review {
    let template = context.template;
    let family = template.driver.family;
    let filled = effective(context.document, template);
    let yours = request_labels(&filled.document.spec, family);
    let merged = labels::merge(&template.labels, &yours);
    let size = quota::size(&filled.document, &merged, context.flavors, family).ok();
    let (change, surge) = needs(size.as_ref());
    let projections = quota::project(context.usages, &change, &surge);
    let used: Vec<_> = flavors_of(&filled.document)
        .into_iter()
        .filter_map(|name| context.flavors.get(&name).map(|size| (name, *size)))
        .collect();
    let checks = before_creation(&CreationContext {
        document: &filled.document,
        template,
        cloud: context.cloud,
        is_permitted: context.is_permitted,
        has_conductor: context.has_conductor,
        same_name: context.same_name,
        quotas: &projections,
        flavors: &used,
        free_addresses: context.free_addresses,
        client: context.client,
    });
    let plan_context = PlanContext {
        template,
        cloud: context.cloud,
        prune: false,
    };
    let mut request = create_request(&filled.document, family);
    // a name would be resolved by Magnum
    request.insert("cluster_template_id".to_owned(), json!(template.uuid));
    Review {
        plan: plan(None, &filled.document, plan_context),
        labels: labels::table(&template.labels, &yours, template.driver),
        command: CommandLine::of(context.document).to_shell(),
        adjustments: filled.adjustments,
        document: filled.document,
        template: template.clone(),
        request,
        projections,
        checks,
    }
}

/// Returns what the cluster needs, and what a later upgrade needs on top. Where a flavor is not known,
/// only the cluster itself counts.
fn needs(size: Option<&ClusterSize>) -> (Change, Change) {
    let Some(size) = size else {
        return (Change::from([(Resource::Clusters, 1)]), Change::new());
    };
    let mut groups = vec![size.control_plane];
    groups.extend(size.workers.iter().copied());
    (quota::creation(size), quota::surge(&groups))
}

fn flavors_of(document: &ClusterDocument) -> Vec<String> {
    let spec = &document.spec;
    let groups = spec.node_groups.iter().map(|group| &group.flavor);
    let mut names: Vec<_> = std::iter::once(&spec.control_plane.flavor)
        .chain(groups)
        .flatten()
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}
