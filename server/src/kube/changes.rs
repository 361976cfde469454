//! Changes to single objects.
use super::{Api, KubeError, api::Call, path};
use http::Method;
use jiff::Timestamp;
use portico_domain::panel::ObjectRef;
use serde_json::{Value, json};

/// Deletes exactly the object with this UID; a newer object with the same name stays.
pub async fn delete(api: &Api, object: &ObjectRef, uid: &str) -> Result<(), KubeError> {
    let body = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": { "uid": uid },
        "propagationPolicy": "Background",
    });
    let path = path::object(object)?;
    api.bytes(Call::send(Method::DELETE, &path, &body)).await?;
    Ok(())
}

/// Sets the replica count through the scale subresource.
pub async fn scale(api: &Api, object: &ObjectRef, replicas: i64) -> Result<(), KubeError> {
    let path = format!("{}/scale", path::object(object)?);
    let body = json!({ "spec": { "replicas": replicas } });
    api.bytes(Call::merge_patch(&path, &body)).await?;
    Ok(())
}

/// Starts a rollout, as `kubectl rollout restart` does.
pub async fn restart(api: &Api, object: &ObjectRef) -> Result<(), KubeError> {
    let path = path::object(object)?;
    let body = json!({ "spec": { "template": { "metadata": { "annotations": {
        "kubectl.kubernetes.io/restartedAt": Timestamp::now().to_string(),
    }}}}});
    api.bytes(Call::merge_patch(&path, &body)).await?;
    Ok(())
}

/// Creates an object in a collection.
pub async fn create(api: &Api, collection: &str, object: &Value) -> Result<Value, KubeError> {
    api.json(Call::send(Method::POST, collection, object)).await
}

/// Replaces an object; its `resourceVersion` prevents overwriting a concurrent edit.
pub async fn replace(api: &Api, path: &str, object: &Value) -> Result<Value, KubeError> {
    api.json(Call::send(Method::PUT, path, object)).await
}

/// Deletes the object with exactly this UID and version.
pub async fn delete_exact(
    api: &Api,
    path: &str,
    uid: &str,
    resource_version: &str,
) -> Result<(), KubeError> {
    let body = json!({
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": { "uid": uid, "resourceVersion": resource_version },
    });
    api.bytes(Call::send(Method::DELETE, path, &body)).await?;
    Ok(())
}
