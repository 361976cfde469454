//! The stand-in for Nova, Neutron, Cinder and Octavia, steered by the test
//! (`scripts/services/magnum/cloud/server.py`).
use crate::tenant::Tenant;
use portico_openstack::magnum::Cluster;
use reqwest::{Method, StatusCode};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

/// The stand-in, as its key's holder sees one project.
pub struct StandIn {
    client: reqwest::Client,
    url: String,
    key: String,
    project: String,
}

impl StandIn {
    /// Returns the stack's stand-in for the tenant's project.
    pub fn of(tenant: &Tenant) -> Self {
        let key = std::fs::read_to_string(tenant.env.get("CLOUD_STAND_IN_KEY_FILE").unwrap());
        Self {
            client: reqwest::Client::new(),
            url: tenant.env.get("CLOUD_STAND_IN_URL").unwrap().to_owned(),
            key: key.unwrap().trim().to_owned(),
            project: tenant.project.clone(),
        }
    }

    /// Has the next deletions of a cluster's network refused, as while a port is in use.
    pub async fn refuse_to_delete_network(&self, cluster: &Cluster, times: u32) {
        let listed = self.call(Method::GET, "/network/v2.0/networks", None).await;
        let of_cluster = |network: &&Value| {
            let description = network["description"].as_str().unwrap_or_default();
            description.contains(&cluster.uuid.to_string())
        };
        let mut networks = listed["networks"].as_array().unwrap().iter();
        let network = networks.find(of_cluster).unwrap();
        // of this network only: other tests delete theirs meanwhile
        let path = format!("/networks/{}$", network["id"].as_str().unwrap());
        let message = "One or more ports are still in use on the network.";
        let refusal = json!({"NeutronError":
            {"type": "NetworkInUse", "message": message, "detail": ""}});
        let fault = json!({"path": path, "method": "DELETE", "status": 409, "times": times,
                           "body": refusal});
        self.call(Method::POST, "/stand-in/faults", Some(fault))
            .await;
    }

    /// Returns how much of a quota of Nova the project uses.
    pub async fn used(&self, name: &str) -> u64 {
        let path = format!("/compute/v2.1/os-quota-sets/{}/detail", self.project);
        let read = self.call(Method::GET, &path, None).await;
        read["quota_set"][name]["in_use"].as_u64().unwrap()
    }

    /// Sets a quota of Nova for the project, as an administrator.
    pub async fn set_quota(&self, tenant: &Tenant, name: &str, limit: u64) {
        let path = format!("/compute/v2.1/os-quota-sets/{}", self.project);
        let token = tenant.administrator().await.token;
        let request = self
            .client
            .put(format!("{}{path}", self.url))
            .header("x-auth-token", token.expose_secret())
            .json(&json!({"quota_set": {name: limit}}));
        let status = request.send().await.unwrap().status();
        assert!(status.is_success(), "{path}: {status}");
    }

    /// Makes what a claim and a Service of a cluster would have made: a volume and a load balancer. Returns the ID
    /// of the volume.
    pub async fn make_workload(&self, cluster: &Cluster) -> String {
        let volumes = format!("/volume/v3/{}/volumes", self.project);
        let metadata = json!({"cinder.csi.openstack.org/cluster": cluster.uuid});
        let volume = json!({"volume": {"name": "pvc-data", "size": 1, "metadata": metadata}});
        self.call(Method::POST, &volumes, Some(volume)).await;
        let name = format!("kube_service_{}_default_web", cluster.uuid);
        let balancer = json!({"loadbalancer": {"name": name}});
        let balancers = "/load-balancer/v2/lbaas/loadbalancers";
        self.call(Method::POST, balancers, Some(balancer)).await;
        let list = format!("{volumes}/detail");
        let listed = self.call(Method::GET, &list, None).await;
        let mut listed = listed["volumes"].as_array().unwrap().iter();
        let made = listed.find(|volume| volume["name"] == "pvc-data").unwrap();
        made["id"].as_str().unwrap().to_owned()
    }

    /// Deletes the project's volumes, load balancers and floating IPs.
    pub async fn delete_leftovers(&self) {
        let volumes = format!("/volume/v3/{}/volumes", self.project);
        let balancers = "/load-balancer/v2/lbaas/loadbalancers";
        let addresses = "/network/v2.0/floatingips";
        for (list, collection, one) in [
            (format!("{volumes}/detail"), "volumes", volumes.as_str()),
            (balancers.to_owned(), "loadbalancers", balancers),
            (addresses.to_owned(), "floatingips", addresses),
        ] {
            let listed = self.call(Method::GET, &list, None).await;
            for entry in listed[collection].as_array().unwrap() {
                let path = format!("{one}/{}", entry["id"].as_str().unwrap());
                self.call(Method::DELETE, &path, None).await;
            }
        }
    }

    async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let request = self
            .client
            .request(method, format!("{}{path}", self.url))
            .header("x-stand-in-key", &self.key)
            .header("x-stand-in-project", &self.project);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        let answer = request.send().await.unwrap();
        let status = answer.status();
        assert!(status.is_success(), "{path}: {status}");
        if matches!(status, StatusCode::NO_CONTENT | StatusCode::ACCEPTED) {
            return Value::Null;
        }
        answer.json().await.unwrap()
    }
}
