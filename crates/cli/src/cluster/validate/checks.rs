//! What the answers of Magnum and of the API server mean for the parts.
use super::report::Finding;
use crate::cluster::kubernetes::ApiError;
use jiff::Timestamp;
use portico_domain::identity::{Identity, User};
use portico_openstack::magnum::{Cluster, HealthStatus};
use serde_json::Value;
use x509_parser::pem::Pem;
use x509_parser::prelude::{FromDer as _, X509Certificate};

const SECONDS_OF_DAY: i64 = 86_400;
/// A certificate that ends sooner is a fault of a new cluster.
const MIN_CERTIFICATE_DAYS: i64 = 30;
/// Maximum number of names in a text.
const MAX_NAMES: usize = 5;

/// Returns what Magnum's record means.
pub fn magnum(cluster: &Cluster) -> Finding {
    let status = &cluster.status;
    if status.is_in_progress() {
        return Finding::failed(format!(
            "{status}: wait with `portico cluster watch {}`",
            cluster.uuid
        ));
    }
    if !status.is_complete() {
        return Finding::failed(format!(
            "{status}: see `portico cluster show {}`",
            cluster.uuid
        ));
    }
    match &cluster.health_status {
        Some(HealthStatus::Unhealthy) => Finding::failed(format!(
            "{status}, but unhealthy: see `portico cluster health {}`",
            cluster.uuid
        )),
        Some(HealthStatus::Healthy) => Finding::ok(format!("{status}, healthy")),
        Some(other) => Finding::ok(format!("{status}, health {other}")),
        // the first minutes, or a private API
        None => Finding::ok(format!("{status}, health not measured yet")),
    }
}

/// Compares the nodes of the cluster with the number that Magnum has.
pub fn nodes(nodes: &[Value], cluster: &Cluster) -> Finding {
    let (Some(masters), Some(workers)) = (cluster.master_count, cluster.node_count) else {
        return Finding::not_checked("Magnum does not report how many nodes there should be");
    };
    let wanted = usize::try_from(masters.saturating_add(workers)).unwrap_or(usize::MAX);
    let not_ready: Vec<_> = nodes
        .iter()
        .filter(|one| !is_ready(one))
        .map(name)
        .collect();
    let ready = nodes.len() - not_ready.len();
    if !not_ready.is_empty() {
        return Finding::failed(format!(
            "{ready} of {} nodes are Ready; not Ready: {}",
            nodes.len(),
            names(&not_ready)
        ));
    }
    let of_magnum =
        format!("{wanted} of Magnum's record (control plane {masters}, workers {workers})");
    if ready < wanted {
        return Finding::failed(format!(
            "{ready} nodes are Ready, fewer than the {of_magnum}"
        ));
    }
    if ready > wanted {
        // an autoscaler changes the size without Magnum
        return Finding::ok(format!(
            "{ready} nodes are Ready, more than the {of_magnum}"
        ));
    }
    Finding::ok(format!("{ready} of {wanted} nodes are Ready"))
}

/// Returns what the DNS pods mean.
pub fn dns(pods: &[Value]) -> Finding {
    let ready = pods.iter().filter(|one| is_ready(one)).count();
    match pods.len() {
        0 => Finding::not_checked(
            "there is no pod with the label k8s-app=kube-dns or k8s-app=coredns in kube-system",
        ),
        all if ready == 0 => Finding::failed(format!(
            "none of {all} DNS pods is Ready: see `kubectl -n kube-system get pods`"
        )),
        all => Finding::ok(format!("{ready} of {all} DNS pods are Ready")),
    }
}

/// Compares the user whom the cluster sees with the one whom Keystone knows. `review` is a SelfSubjectReview.
pub fn authentication(review: &Value, user: &User) -> Finding {
    let text = |path: &str| review.pointer(path).and_then(Value::as_str);
    let Some(seen) = text("/status/userInfo/username") else {
        return Finding::not_checked("the cluster does not report which user it sees");
    };
    let identity = Identity {
        user: user.clone(),
        project: None,
        roles: Vec::new(),
    };
    let expected = identity.kubernetes_username();
    let uid = text("/status/userInfo/uid").unwrap_or_default();
    if seen == expected && uid == user.id {
        return Finding::ok(format!("the cluster knows you as {seen}"));
    }
    Finding::failed(format!(
        "the cluster sees {seen} (uid {uid:?}), and Keystone {expected} (ID {:?}): check the webhook \
         configuration of the API server",
        user.id
    ))
}

/// Returns what a failed review means.
pub fn no_review(error: &ApiError) -> Finding {
    match error {
        ApiError::NotFound(_) => Finding::not_checked(
            "the cluster has no SelfSubjectReview, which Kubernetes 1.27 and later have",
        ),
        ApiError::Unauthorized => Finding::failed(
            "the cluster does not accept your token: check that its API server asks kube-auth",
        ),
        other => Finding::not_checked(other.to_string()),
    }
}

/// Returns the days that certificates are still valid. `server` is the API server's (DER), `authority`
/// the cluster's and `etcd` that of its etcd (PEM), which Magnum does not give to every user. That of the webhook
/// is never checked.
pub fn certificates(
    server: Option<&[u8]>,
    authority: Option<&str>,
    etcd: Option<&str>,
    now: Timestamp,
) -> Finding {
    let server = server.and_then(|der| days_of_der(der, now));
    let Some(server) = server else {
        return Finding::not_checked("the certificate of the API server was not seen");
    };
    let mut all = vec![("API server", server)];
    if let Some(pem) = authority {
        match days_of_pem(pem, now) {
            Some(days) => all.push(("authority", days)),
            None => {
                return Finding::not_checked("the certificate of the authority cannot be read");
            }
        }
    }
    let unseen = match etcd.and_then(|pem| days_of_pem(pem, now)) {
        Some(days) => {
            all.push(("authority of etcd", days));
            "not checked: the webhook's, which only the API server sees"
        }
        None => {
            "not checked: the authority of etcd, which Magnum gives to the owner of the cluster only, and the \
             webhook's certificate, which only the API server sees"
        }
    };
    let is_short = all.iter().any(|(_, days)| *days < MIN_CERTIFICATE_DAYS);
    let texts: Vec<_> = all
        .iter()
        .map(|(what, days)| format!("{what}: {days} days left"))
        .collect();
    let text = format!("{}; {unseen}", texts.join(", "));
    if is_short {
        Finding::failed(format!(
            "less than {MIN_CERTIFICATE_DAYS} days, so renew them: see `portico cluster ca`. {text}"
        ))
    } else {
        Finding::ok(text)
    }
}

fn days_of_der(der: &[u8], now: Timestamp) -> Option<i64> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let end = certificate.validity().not_after.timestamp();
    Some((end - now.as_second()).div_euclid(SECONDS_OF_DAY))
}

/// The certificate that ends first counts.
fn days_of_pem(pem: &str, now: Timestamp) -> Option<i64> {
    let all = Pem::iter_from_buffer(pem.as_bytes());
    let days: Option<Vec<_>> = all
        .map(|one| days_of_der(&one.ok()?.contents, now))
        .collect();
    days?.into_iter().min()
}

/// Returns whether a node or pod has the condition Ready.
pub fn is_ready(object: &Value) -> bool {
    let conditions = object
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    conditions.is_some_and(|conditions| {
        conditions.iter().any(|one| {
            one.get("type").and_then(Value::as_str) == Some("Ready")
                && one.get("status").and_then(Value::as_str) == Some("True")
        })
    })
}

fn name(object: &Value) -> &str {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or("(without a name)")
}

fn names(names: &[&str]) -> String {
    let first: Vec<_> = names.iter().copied().take(MAX_NAMES).collect();
    match names.len() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
