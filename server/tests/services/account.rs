//! Service accounts of a test's own.
use crate::{own_namespace::OwnNamespace, stack::Stack};
use k8s_openapi::api::{authentication::v1::TokenRequest, core::v1::ServiceAccount};
use kube::Api;
use serde_json::{Value, json};

/// Makes an account without any rights; returns a kubeconfig for it.
pub async fn kubeconfig(stack: &Stack, own: &OwnNamespace, name: &str) -> String {
    let accounts = Api::<ServiceAccount>::namespaced(own.client.clone(), &own.name);
    let account = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
    let post = Default::default();
    accounts.create(&post, &account).await.unwrap();
    let request: TokenRequest =
        serde_json::from_value(json!({ "spec": { "audiences": [] } })).unwrap();
    let token = accounts
        .create_token_request(name, &post, &request)
        .await
        .unwrap();
    let kubeconfig = json!({ "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{ "name": "c", "cluster": { "server": stack.var("KUBE_API_URL"),
            "certificate-authority": stack.var("KUBE_CA_FILE") } }],
        "users": [{ "name": "u", "user": { "token": token.status.unwrap().token } }],
        "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }] });
    kubeconfig.to_string()
}

/// The account as a binding names it.
pub fn subject(own: &OwnNamespace, name: &str) -> Value {
    json!({ "kind": "ServiceAccount", "name": name, "namespace": own.name })
}
