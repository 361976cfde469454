//! Namespaces and pods of one test.
use crate::stack::Stack;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Namespace, Pod},
};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use std::{process::Command, time::Duration};
use tokio::time::{sleep, timeout};

/// Deleted by its test's `done`, and when the test fails.
pub struct OwnNamespace {
    pub name: String,
    pub client: Client,
    _removal: Removal,
}

/// Objects that are deleted when their test fails: its second try and other tests would find them.
pub struct Removal(Command);

impl Removal {
    /// Deletes objects with kubectl and an administrator's kubeconfig.
    pub fn new(stack: &Stack, kubeconfig: &str, objects: &[&str]) -> Self {
        let mut kubectl = Command::new(stack.var("KUBECTL"));
        kubectl
            .args(["--kubeconfig", stack.var(kubeconfig)])
            .args(["delete", "--ignore-not-found"])
            .args(objects);
        Self(kubectl)
    }

    /// Deletes objects of acme's cluster, and does not wait for it.
    pub fn at_acme(stack: &Stack, objects: &[&str]) -> Self {
        let objects: Vec<_> = ["--wait=false"].iter().chain(objects).copied().collect();
        Self::new(stack, "KUBE_ADMIN_KUBECONFIG", &objects)
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // the panic is what is reported
            let _ = self.0.status();
        }
    }
}

impl OwnNamespace {
    pub fn new(name: String, client: Client, removal: Removal) -> Self {
        Self {
            name,
            client,
            _removal: removal,
        }
    }

    /// Makes the Deployment `web`, whose replicas are never ready, because no scheduler takes them, and
    /// waits until they exist. Its deadline for progress is in seconds.
    pub async fn unready_deployment(&self, replicas: usize, deadline: u32) {
        let deployment = serde_json::from_value(json!({
            "metadata": { "name": "web" },
            "spec": {
                "replicas": replicas, "progressDeadlineSeconds": deadline,
                "selector": { "matchLabels": { "app": "web" } },
                "template": {
                    "metadata": { "labels": { "app": "web" } },
                    "spec": { "schedulerName": "none", "containers": [{ "name": "c", "image": "none" }] },
                },
            },
        }));
        Api::<Deployment>::namespaced(self.client.clone(), &self.name)
            .create(&PostParams::default(), &deployment.unwrap())
            .await
            .unwrap();
        let pods = Api::<Pod>::namespaced(self.client.clone(), &self.name);
        let made = async {
            while pods.list(&ListParams::default()).await.unwrap().items.len() < replicas {
                sleep(Duration::from_millis(200)).await;
            }
        };
        timeout(Duration::from_secs(15), made)
            .await
            .expect("its pods are made");
    }

    /// Makes a pod that no node takes: it exists at once and needs no image.
    pub async fn pod(&self, name: &str) -> Pod {
        let selector = json!({ "nodeSelector": { "portico.dev/none": "true" } });
        self.pod_with(name, selector).await
    }

    /// Makes a pod that no scheduler looks at, so that its status is what the test writes.
    pub async fn pod_with_status(&self, name: &str, status: Value) {
        self.pod_with(name, json!({ "schedulerName": "none" }))
            .await;
        let status = json!({ "status": status });
        Api::<Pod>::namespaced(self.client.clone(), &self.name)
            .patch_status(name, &PatchParams::default(), &Patch::Merge(status))
            .await
            .unwrap();
    }

    async fn pod_with(&self, name: &str, mut spec: Value) -> Pod {
        spec["containers"] = json!([{ "name": "c", "image": "none" }]);
        let pod = json!({ "metadata": { "name": name }, "spec": spec });
        let pod = serde_json::from_value(pod).unwrap();
        let pods = Api::<Pod>::namespaced(self.client.clone(), &self.name);
        let mut tries = 0;
        loop {
            match pods.create(&PostParams::default(), &pod).await {
                Ok(pod) => return pod,
                // the new namespace's service account is still being made
                Err(error) if tries == 50 => panic!("{error}"),
                Err(_) => tries += 1,
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    pub async fn done(self) {
        let _ = Api::<Namespace>::all(self.client)
            .delete(&self.name, &Default::default())
            .await;
    }
}
