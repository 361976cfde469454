//! What `--full` makes in a cluster: a claim and a load balancer, in a namespace of its own, which is
//! deleted in every case.
use super::balancer::balancer;
use super::report::{Finding, Part};
use super::volume::volume;
use crate::cluster::console::Console;
use crate::cluster::kubernetes::{ApiError, Kubernetes};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const NAMESPACES: &str = "/api/v1/namespaces";
/// Rights in a new namespace, and its service account, are made a moment after it.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long to wait for an object.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub timeout: Duration,
    /// Between two looks.
    pub pause: Duration,
}

/// What came out.
#[derive(Debug, Default)]
pub struct Made {
    pub findings: Vec<(Part, Finding)>,
    /// Whether the user has ended it; the namespace was deleted then too.
    pub is_interrupted: bool,
}

/// Makes the objects of these parts, waits for their results, and deletes the namespace. `image` is what the pod of
/// the load balancer runs.
pub async fn check(
    api: &Kubernetes,
    console: &mut Console,
    parts: &[Part],
    image: Option<&str>,
    waiting: Waiting,
) -> Made {
    if parts.is_empty() {
        return Made::default();
    }
    let namespace = format!("portico-validate-{:08x}", rand::random::<u32>());
    let of_all = |finding: &Finding| -> Vec<_> {
        parts.iter().map(|part| (*part, finding.clone())).collect()
    };
    console.say(format!(
        "Making test objects in the namespace {namespace}; this can take some minutes."
    ));
    let mut made = Made::default();
    let mut bound = None;
    match api.create(NAMESPACES, &namespace_object(&namespace)).await {
        Ok(_) => {
            let has = |part: Part| parts.contains(&part);
            let claim = async {
                if has(Part::Volume) {
                    Some(volume(api, &namespace, waiting).await)
                } else {
                    None
                }
            };
            let balancer = async {
                if has(Part::LoadBalancer) {
                    Some(balancer(api, &namespace, image, waiting).await)
                } else {
                    None
                }
            };
            tokio::select! {
                (claim, balancer) = async { tokio::join!(claim, balancer) } => {
                    if let Some(claim) = claim {
                        bound = claim.volume;
                        made.findings.push((Part::Volume, claim.finding));
                    }
                    made.findings.extend(balancer.map(|found| (Part::LoadBalancer, found)));
                }
                _ = tokio::signal::ctrl_c() => {
                    made.is_interrupted = true;
                    made.findings = of_all(&Finding::not_checked("interrupted"));
                }
            }
        }
        Err(error) => {
            let text = format!("no namespace can be made for it: {error}");
            made.findings = of_all(&Finding::not_checked(text));
            if !error.is_uncertain() {
                return made;
            }
        }
    }
    console.say(format!("Deleting the namespace {namespace}."));
    let cleanup = tokio::select! {
        finding = remove(api, &namespace, bound.as_deref(), waiting) => finding,
        _ = tokio::signal::ctrl_c() => {
            made.is_interrupted = true;
            still_there(&namespace, "interrupted")
        }
    };
    made.findings.push((Part::Cleanup, cleanup));
    made
}

/// Deletes the namespace, and waits until it and the volume of the claim are gone.
async fn remove(
    api: &Kubernetes,
    namespace: &str,
    volume: Option<&str>,
    waiting: Waiting,
) -> Finding {
    let path = format!("{NAMESPACES}/{namespace}");
    let deadline = Instant::now() + waiting.timeout;
    let mut is_requested = false;
    loop {
        let result = if is_requested {
            api.get(&path).await.map(drop)
        } else {
            api.delete(&path, None).await
        };
        let cause = match result {
            Err(error) if error.is_not_found() => break,
            Err(ApiError::Forbidden(_)) if is_requested => {
                return Finding::not_checked(format!(
                    "the deletion of the namespace {namespace} is requested, and you may not see its end"
                ));
            }
            Err(error) => error.to_string(),
            Ok(()) => {
                is_requested = true;
                "its deletion is requested".to_owned()
            }
        };
        if Instant::now() >= deadline {
            return still_there(namespace, &cause);
        }
        sleep(waiting.pause).await;
    }
    let gone = format!("the namespace {namespace} is deleted");
    let Some(volume) = volume else {
        return Finding::ok(gone);
    };
    let path = format!("/api/v1/persistentvolumes/{volume}");
    loop {
        match api.get(&path).await {
            Err(error) if !error.is_uncertain() => return Finding::ok(gone),
            _ if Instant::now() >= deadline => {
                return Finding::failed(format!(
                    "{gone}, but not its volume: see `kubectl get persistentvolume {volume}`"
                ));
            }
            _ => sleep(waiting.pause).await,
        }
    }
}

fn still_there(namespace: &str, cause: &str) -> Finding {
    Finding::failed(format!(
        "the namespace {namespace} may still exist ({cause}): delete it with `kubectl delete namespace \
         {namespace}`"
    ))
}

fn namespace_object(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "portico"}},
    })
}

/// Creates an object in a namespace that was made just now.
///
/// # Errors
/// If the API server cannot be asked or refuses.
pub async fn create(
    api: &Kubernetes,
    path: &str,
    object: &Value,
    waiting: Waiting,
) -> Result<(), ApiError> {
    let deadline = Instant::now() + PATIENCE.min(waiting.timeout);
    loop {
        match api.create(path, object).await {
            Err(ApiError::Forbidden(_)) if Instant::now() < deadline => {
                sleep(waiting.pause).await;
            }
            result => return result.map(drop),
        }
    }
}

/// Reads an object until `done` returns something. `None`: not in time.
///
/// # Errors
/// If the API server refuses, or does not answer until the end.
pub async fn until<T>(
    api: &Kubernetes,
    path: &str,
    waiting: Waiting,
    done: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, ApiError> {
    let deadline = Instant::now() + waiting.timeout;
    loop {
        let result = api.get(path).await;
        let found = result.as_ref().ok().and_then(&done);
        if found.is_some() {
            return Ok(found);
        }
        let is_refused = result.as_ref().is_err_and(|error| !error.is_uncertain());
        if is_refused || Instant::now() >= deadline {
            return result.map(|_| None);
        }
        sleep(waiting.pause).await;
    }
}

/// Returns the message of an object's last warning.
pub async fn last_warning(
    api: &Kubernetes,
    namespace: &str,
    kind: &str,
    name: &str,
) -> Option<String> {
    let path = format!("{NAMESPACES}/{namespace}/events");
    let selector = format!("involvedObject.kind={kind},involvedObject.name={name},type=Warning");
    let events = api
        .list(&path, &[("fieldSelector", selector.as_str())])
        .await;
    let text = |event: &Value, key: &str| event.get(key).and_then(Value::as_str).map(str::to_owned);
    let events = events.ok()?;
    let last = events
        .iter()
        .max_by_key(|event| text(event, "lastTimestamp"));
    text(last?, "message")
}

/// Returns `: <text>`, or nothing.
pub fn suffix(text: Option<String>) -> String {
    text.map(|text| format!(": {text}")).unwrap_or_default()
}

/// Returns what a refused request means: what is forbidden or absent was not checked.
pub fn of_error(error: &ApiError) -> Finding {
    match error {
        ApiError::Refused { .. } => Finding::failed(error.to_string()),
        _ => Finding::not_checked(error.to_string()),
    }
}
