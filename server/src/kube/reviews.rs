//! Access reviews: asks the API server what a user may do, with that user's own token.
use super::{Api, KubeError, api::Call, credential::SubjectKey};
use futures::{StreamExt, stream};
use http::Method;
use portico_domain::panel::{ResourceRef, RightQuestion};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};
use uuid::Uuid;

const SELF_REVIEWS_PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const SUBJECT_REVIEWS_PATH: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const SELF_RULES_PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
/// Maximum number of concurrent reviews for one page.
const MAX_CONCURRENT_REVIEWS: usize = 12;

/// The result of one review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewResult {
    pub allowed: bool,
    pub reason: String,
}

/// One rule that applies to a user in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rule {
    pub verbs: Vec<String>,
    pub api_groups: Vec<String>,
    pub resources: Vec<String>,
    pub resource_names: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    pub non_resource_urls: Vec<String>,
}

/// A user's rules in one namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// Whether an authorizer that cannot list its rules takes part: there may be more.
    pub incomplete: bool,
}

/// Makes the review of a verb on a kind.
pub fn question(verb: &str, resource: &ResourceRef, namespace: Option<&str>) -> RightQuestion {
    RightQuestion::on(verb, resource, namespace)
}

/// Runs one review; results are cached for 30 seconds per user.
pub async fn review(api: &Api, question: &RightQuestion) -> Result<ReviewResult, KubeError> {
    match api.caches.reviews.get(&slot(api, question)).await {
        Some(result) => Ok(result),
        None => renew(api, question).await,
    }
}

/// Runs one review in any case, and replaces its cached result.
pub async fn renew(api: &Api, question: &RightQuestion) -> Result<ReviewResult, KubeError> {
    let slot = slot(api, question);
    let result = review_now(api, question).await?;
    api.caches.reviews.insert(slot, result.clone()).await;
    Ok(result)
}

fn slot(api: &Api, question: &RightQuestion) -> (Uuid, SubjectKey, u64, RightQuestion) {
    let epoch = *api.caches.rights_epoch.borrow();
    (api.cluster, api.subject, epoch, question.clone())
}

/// Runs one review, bypassing the cache.
pub async fn review_now(api: &Api, question: &RightQuestion) -> Result<ReviewResult, KubeError> {
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": { "resourceAttributes": attributes(question) },
    });
    let answer = api
        .json(Call::send(Method::POST, SELF_REVIEWS_PATH, &body))
        .await?;
    Ok(review_result(&answer))
}

/// The subject of an access review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedSubject {
    pub user: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

/// Reviews what another user may do; needs `create` on `subjectaccessreviews`. Never cached.
pub async fn review_of(
    api: &Api,
    subject: &ReviewedSubject,
    question: &RightQuestion,
) -> Result<ReviewResult, KubeError> {
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": subject.user,
            "uid": subject.uid,
            "groups": subject.groups,
            "extra": subject.extra,
            "resourceAttributes": attributes(question),
        },
    });
    let answer = api
        .json(Call::send(Method::POST, SUBJECT_REVIEWS_PATH, &body))
        .await?;
    Ok(review_result(&answer))
}

fn attributes(question: &RightQuestion) -> Value {
    json!({
        "namespace": question.namespace.as_deref().unwrap_or_default(),
        "verb": question.verb,
        "group": question.group,
        "resource": question.resource,
        "subresource": question.subresource,
        "name": question.name.as_deref().unwrap_or_default(),
    })
}

fn review_result(answer: &Value) -> ReviewResult {
    ReviewResult {
        allowed: answer.pointer("/status/allowed").and_then(Value::as_bool) == Some(true),
        reason: answer
            .pointer("/status/reason")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
    }
}

/// Runs several reviews concurrently; returns one result each, in order.
pub async fn review_all(
    api: &Api,
    questions: Vec<RightQuestion>,
) -> Vec<Result<ReviewResult, KubeError>> {
    stream::iter(questions)
        .map(|question| async move { review(api, &question).await })
        .buffered(MAX_CONCURRENT_REVIEWS)
        .collect()
        .await
}

/// Returns whether something is allowed; an outage is an error, never a yes.
pub async fn allowed(api: &Api, question: &RightQuestion) -> Result<bool, KubeError> {
    review(api, question).await.map(|result| result.allowed)
}

/// Returns all rules of the user in a namespace; cached for 30 seconds per user.
pub async fn cached_rules(api: &Api, namespace: &str) -> Result<Arc<Rules>, KubeError> {
    let epoch = *api.caches.rights_epoch.borrow();
    let slot = (api.cluster, api.subject, epoch, namespace.to_owned());
    if let Some(known) = api.caches.rules.get(&slot).await {
        return Ok(known);
    }
    let found = Arc::new(rules(api, namespace).await?);
    api.caches.rules.insert(slot, Arc::clone(&found)).await;
    Ok(found)
}

/// Returns all rules of the user in a namespace.
pub async fn rules(api: &Api, namespace: &str) -> Result<Rules, KubeError> {
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": { "namespace": namespace },
    });
    let answer = api
        .json(Call::send(Method::POST, SELF_RULES_PATH, &body))
        .await?;
    let rules = answer
        .pointer("/status/resourceRules")
        .cloned()
        .filter(|value| !value.is_null())
        .unwrap_or_else(|| json!([]));
    Ok(Rules {
        rules: serde_json::from_value(rules)
            .map_err(|error| KubeError::Protocol(error.to_string()))?,
        incomplete: answer
            .pointer("/status/incomplete")
            .and_then(Value::as_bool)
            == Some(true),
    })
}
