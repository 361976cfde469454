//! With whose rights the poller of a cluster reads the nodes: those of a viewer who may list them.
use super::{enrolment_state::PROBE_TIMEOUT, inside::UserApi, viewer::Viewer};
use crate::{
    caller::Caller,
    kube::{ClusterSnapshot, reviews},
    service::Services,
};
use async_trait::async_trait;
use portico_cluster_operations::inside::{self, Inspection};
use portico_domain::panel::ResourceRef;
use portico_lifecycle::progress::NodeSurvey;
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use uuid::Uuid;

/// How long to wait for the nodes: Magnum's answer is shown without them.
const PATIENCE: Duration = Duration::from_secs(4);

/// Reads the nodes of one cluster with the rights of one user.
#[async_trait]
pub trait Inspector: Send + Sync {
    async fn inspect(&self) -> Inspection;
}

#[async_trait]
impl Inspector for UserApi {
    async fn inspect(&self) -> Inspection {
        let read = tokio::time::timeout(PATIENCE, inside::inspect(self)).await;
        read.unwrap_or_else(|_| Inspection {
            is_api_ready: Some(false),
            nodes: Err("The API server did not respond in time.".to_owned()),
        })
    }
}

/// What a viewer lends to the poller of a cluster.
#[derive(Clone)]
pub struct Lender {
    pub inspector: Arc<dyn Inspector>,
    /// Whether the viewer may list pods and PodDisruptionBudgets of all namespaces.
    pub reads_budgets: bool,
}

/// Whether a viewer may see the nodes of a cluster.
#[derive(Clone)]
pub enum Permission {
    /// With what they are read, and the viewer's own access.
    Granted(Lender, Arc<UserApi>),
    /// Why not, as a sentence.
    NotChecked(String),
}

/// Returns whether the caller may see the nodes of a cluster. The answer is reused for some seconds.
pub async fn permission(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    viewer: &Viewer,
    cluster: Uuid,
) -> Permission {
    let Ok(access) = services.magnum() else {
        return Permission::NotChecked("Portico has no access to Magnum here.".to_owned());
    };
    let user = format!("{} {}", viewer.project_id(), viewer.key());
    let asked = async {
        let asked = ask(services, clusters, caller, cluster);
        let asked = tokio::time::timeout(PROBE_TIMEOUT, asked).await;
        match asked {
            Ok(Ok((lender, api))) => Permission::Granted(lender, api),
            Ok(Err(reason)) => Permission::NotChecked(reason),
            Err(_) => Permission::NotChecked("The API server did not respond in time.".to_owned()),
        }
    };
    access.inspectable.get_with((cluster, user), asked).await
}

/// Asks the API server what the caller may read.
async fn ask(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    cluster: Uuid,
) -> Result<(Lender, Arc<UserApi>), String> {
    let api = UserApi::open(services, clusters, caller, cluster).await?;
    let question = |resource: ResourceRef| reviews::question("list", &resource, None);
    let nodes = question(ResourceRef::core("nodes"));
    let pods = question(ResourceRef::core("pods"));
    let budgets = question(budgets());
    let (nodes, pods, budgets) = tokio::join!(
        reviews::allowed(&api.0, &nodes),
        reviews::allowed(&api.0, &pods),
        reviews::allowed(&api.0, &budgets),
    );
    let is_permitted = nodes.map_err(|error| error.sentence())?;
    if !is_permitted {
        return Err(
            "Your roles in the cluster do not permit to list its nodes. Ask a project administrator \
             for access."
                .to_owned(),
        );
    }
    let api = Arc::new(api);
    let lender = Lender {
        inspector: Arc::<UserApi>::clone(&api),
        reads_budgets: pods.unwrap_or_default() && budgets.unwrap_or_default(),
    };
    Ok((lender, api))
}

/// Returns the namespaces of budgets for which drains wait, in which a viewer may list pods and budgets.
pub async fn readable_namespaces(api: &UserApi, survey: &NodeSurvey) -> BTreeSet<String> {
    let names = survey.nodes.iter().flat_map(|node| &node.waits_for);
    let namespaces = names.filter_map(|name| name.split_once('/'));
    let namespaces: BTreeSet<_> = namespaces.map(|(namespace, _)| namespace).collect();
    if namespaces.is_empty() {
        return BTreeSet::new();
    }
    let asked = async {
        let mut readable = BTreeSet::new();
        for namespace in namespaces {
            let question =
                |resource: &ResourceRef| reviews::question("list", resource, Some(namespace));
            let pods = question(&ResourceRef::core("pods"));
            let budgets = question(&budgets());
            let (pods, budgets) = tokio::join!(
                reviews::allowed(&api.0, &pods),
                reviews::allowed(&api.0, &budgets),
            );
            if pods.unwrap_or_default() && budgets.unwrap_or_default() {
                readable.insert(namespace.to_owned());
            }
        }
        readable
    };
    let asked = tokio::time::timeout(PROBE_TIMEOUT, asked).await;
    asked.unwrap_or_default()
}

fn budgets() -> ResourceRef {
    ResourceRef::new("policy", "v1", "poddisruptionbudgets")
}
