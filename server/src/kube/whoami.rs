//! The identity of a user at the API server: `SelfSubjectReview`, from Kubernetes 1.26 on.
use super::{Api, KubeError, api::Call};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const GROUP: &str = "/apis/authentication.k8s.io";
const PLURAL: &str = "selfsubjectreviews";
/// The versions that have it, newest first.
const VERSIONS: [&str; 3] = ["v1", "v1beta1", "v1alpha1"];

/// The API server's user information.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    pub username: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

/// Sends the review; returns `None` if the API server does not support it.
pub async fn whoami(api: &Api) -> Result<Option<UserInfo>, KubeError> {
    let served = versions(&api.get(GROUP).await?);
    for version in served {
        let resources = api.get(&format!("{GROUP}/{version}")).await?;
        if !has_review(&resources) {
            continue;
        }
        let body = json!({
            "apiVersion": format!("authentication.k8s.io/{version}"),
            "kind": "SelfSubjectReview",
        });
        let path = format!("{GROUP}/{version}/{PLURAL}");
        let answer = api.json(Call::send(Method::POST, &path, &body)).await?;
        return read(&answer).map(Some);
    }
    Ok(None)
}

fn versions(group: &Value) -> Vec<&'static str> {
    let offered: Vec<_> = group["versions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|version| version["version"].as_str())
        .collect();
    VERSIONS
        .into_iter()
        .filter(|version| offered.contains(version))
        .collect()
}

fn has_review(resources: &Value) -> bool {
    resources["resources"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|resource| resource["name"] == PLURAL)
}

fn read(answer: &Value) -> Result<UserInfo, KubeError> {
    let user = answer.pointer("/status/userInfo").cloned();
    serde_json::from_value(user.unwrap_or_default())
        .map_err(|error| KubeError::Protocol(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_is_served_and_has_the_review_is_asked() {
        let group =
            json!({"versions": [{"version": "v1beta1"}, {"version": "v2"}, {"version": "v1"}]});
        assert_eq!(versions(&group), ["v1", "v1beta1"]);
        assert!(has_review(
            &json!({"resources": [{"name": "tokenreviews"}, {"name": PLURAL}]})
        ));
        // the response of Kubernetes 1.20
        assert!(!has_review(
            &json!({"resources": [{"name": "tokenreviews"}]})
        ));
    }

    #[test]
    fn what_the_api_server_leaves_out_is_empty() {
        let answer = json!({"status": {"userInfo": {"username": "ada@Default", "groups": ["a"]}}});
        let user = read(&answer).unwrap();
        assert_eq!(
            (user.username.as_str(), user.groups.len()),
            ("ada@Default", 1)
        );
        assert!(user.uid.is_empty() && user.extra.is_empty());
        assert!(read(&json!({"status": {}})).is_err());
    }
}
