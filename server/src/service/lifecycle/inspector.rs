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
use std::{sync::Arc, time::Duration};
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
    /// With what they are read.
    Granted(Lender),
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
            Ok(Ok(lender)) => Permission::Granted(lender),
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
) -> Result<Lender, String> {
    let api = UserApi::open(services, clusters, caller, cluster).await?;
    let question = |resource: ResourceRef| reviews::question("list", &resource, None);
    let nodes = question(ResourceRef::core("nodes"));
    let pods = question(ResourceRef::core("pods"));
    let budgets = question(ResourceRef::new("policy", "v1", "poddisruptionbudgets"));
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
    Ok(Lender {
        inspector: Arc::new(api),
        reads_budgets: pods.unwrap_or_default() && budgets.unwrap_or_default(),
    })
}
