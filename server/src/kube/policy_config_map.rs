//! The watch of a cluster's authorization policy in a ConfigMap, for kube-auth.
use futures::StreamExt as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client,
    runtime::{WatchStreamExt as _, watcher},
};
use portico_cluster_sync::reconcile::{ReconcileError, connect};
use portico_domain::cluster::PolicyConfigMap;
use portico_kube_auth::KubeAuth;
use uuid::Uuid;

/// The watch of one ConfigMap.
pub struct PolicyWatch {
    cluster: Uuid,
    source: PolicyConfigMap,
    client: Client,
}

impl PolicyWatch {
    /// Reads the kubeconfig; sends no request yet.
    ///
    /// # Errors
    /// If the kubeconfig cannot be used.
    pub async fn new(cluster: Uuid, source: PolicyConfigMap) -> Result<Self, ReconcileError> {
        Ok(Self {
            client: connect(&source.kubeconfig_file).await?,
            cluster,
            source,
        })
    }

    /// Passes every version of the policy to kube-auth; ends with the task that runs it.
    pub async fn run(self, service: KubeAuth) {
        let source = &self.source;
        let api = Api::<ConfigMap>::namespaced(self.client.clone(), &source.namespace);
        let mut versions = watcher::watch_object(api, &source.name)
            .default_backoff()
            .boxed();
        while let Some(version) = versions.next().await {
            match version {
                Ok(version) => self.hand_over(&service, version.as_ref()).await,
                // the watcher restarts by itself, after a pause
                Err(error) => tracing::warn!(
                    cluster_id = %self.cluster,
                    %error,
                    "the policy's ConfigMap {}/{} cannot be watched now; trying again",
                    source.namespace,
                    source.name
                ),
            }
        }
    }

    async fn hand_over(&self, service: &KubeAuth, version: Option<&ConfigMap>) {
        let PolicyConfigMap {
            namespace,
            name,
            key,
            ..
        } = &self.source;
        let outcome = match version {
            None => service.policy_is_missing(
                self.cluster,
                &format!("there is no ConfigMap {namespace}/{name}"),
            ),
            Some(map) => match map.data.as_ref().and_then(|data| data.get(key)) {
                Some(text) => {
                    // faults were logged there
                    let _ = service.set_policy(self.cluster, text).await;
                    Ok(())
                }
                None => service.policy_is_missing(
                    self.cluster,
                    &format!("ConfigMap {namespace}/{name} has no key {key}"),
                ),
            },
        };
        if let Err(error) = outcome {
            tracing::error!(%error, "a watched policy belongs to no cluster");
        }
    }
}
