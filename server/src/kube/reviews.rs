//! Access reviews: the API server is asked what a person may do, with that person's own token.
use super::{Api, KubeError, api::Call};
use futures::{StreamExt, stream};
use http::Method;
use portico_domain::panel::{ResourceRef, RightQuestion};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::atomic::Ordering};

const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const OTHERS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
const RULES: &str = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
/// Reviews of one page that run at the same time.
const PARALLEL: usize = 12;

/// The API server's answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub allowed: bool,
    pub reason: String,
}

/// One rule that holds for a person in a namespace.
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

/// A person's rules in one namespace.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    pub rules: Vec<Rule>,
    /// An authorizer that cannot list its rules takes part: there may be more.
    pub incomplete: bool,
}

/// A question about a kind.
pub fn question(verb: &str, resource: &ResourceRef, namespace: Option<&str>) -> RightQuestion {
    RightQuestion {
        verb: verb.to_owned(),
        group: resource.group.clone(),
        resource: resource.plural.clone(),
        subresource: String::new(),
        namespace: namespace.map(str::to_owned),
        name: None,
    }
}

/// Asks one question; answers are kept for 30 seconds for this person.
pub async fn review(api: &Api, question: &RightQuestion) -> Result<Verdict, KubeError> {
    let epoch = api.caches.rights_epoch.load(Ordering::Relaxed);
    let slot = (api.cluster, api.subject, epoch, question.clone());
    if let Some(verdict) = api.caches.reviews.get(&slot).await {
        return Ok(verdict);
    }
    let verdict = review_now(api, question).await?;
    api.caches.reviews.insert(slot, verdict.clone()).await;
    Ok(verdict)
}

/// Asks one question, whatever was answered before.
pub async fn review_now(api: &Api, question: &RightQuestion) -> Result<Verdict, KubeError> {
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": { "resourceAttributes": attributes(question) },
    });
    let answer = api.json(Call::send(Method::POST, REVIEWS, &body)).await?;
    Ok(verdict(&answer))
}

/// Somebody, as an access review names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewedSubject {
    pub user: String,
    pub uid: String,
    pub groups: Vec<String>,
    pub extra: BTreeMap<String, Vec<String>>,
}

/// Asks what somebody else may do; needs `create` on `subjectaccessreviews`. Never kept.
pub async fn review_of(
    api: &Api,
    subject: &ReviewedSubject,
    question: &RightQuestion,
) -> Result<Verdict, KubeError> {
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
    let answer = api.json(Call::send(Method::POST, OTHERS, &body)).await?;
    Ok(verdict(&answer))
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

fn verdict(answer: &Value) -> Verdict {
    Verdict {
        allowed: answer.pointer("/status/allowed").and_then(Value::as_bool) == Some(true),
        reason: answer
            .pointer("/status/reason")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
    }
}

/// Asks several questions at a time; one answer each, in order.
pub async fn review_all(
    api: &Api,
    questions: Vec<RightQuestion>,
) -> Vec<Result<Verdict, KubeError>> {
    stream::iter(questions)
        .map(|question| async move { review(api, &question).await })
        .buffered(PARALLEL)
        .collect()
        .await
}

/// Whether something is allowed; an outage is an error, never a yes.
pub async fn allowed(api: &Api, question: &RightQuestion) -> Result<bool, KubeError> {
    review(api, question).await.map(|verdict| verdict.allowed)
}

/// All rules of the person in a namespace.
pub async fn rules(api: &Api, namespace: &str) -> Result<Rules, KubeError> {
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": { "namespace": namespace },
    });
    let answer = api.json(Call::send(Method::POST, RULES, &body)).await?;
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
