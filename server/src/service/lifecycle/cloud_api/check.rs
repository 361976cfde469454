//! Checks a request against the table of permitted calls, and finds out what it changes; no I/O.
use super::rules::{RULES, Rule};
use axum::http::{Method, StatusCode};
use portico_domain::panel::lifecycle::{ACCEPTED_ARGUMENT, DeletionOptions};
use portico_lifecycle::spec::DEFAULT_GROUP;
use portico_openstack::rest::{PassedCall, PassedPath, Service};
use serde_json::Value;
use url::form_urlencoded;
use uuid::Uuid;

/// Maximum length of an ID, in bytes.
const MAX_ID_BYTES: usize = 255;
/// Maximum length of the value of `OpenStack-API-Version`, in bytes.
const MAX_VERSION_BYTES: usize = 64;

/// A request of a command line, as it was received.
#[derive(Clone, Debug)]
pub struct CloudRequest {
    pub method: Method,
    /// The path below `cloud/`, as it was sent.
    pub path: String,
    pub query: Option<String>,
    /// The value of `OpenStack-API-Version`.
    pub version: Option<String>,
    pub body: Vec<u8>,
    /// Why the user changes something.
    pub reason: Option<String>,
}

/// A permitted request.
#[derive(Debug, PartialEq, Eq)]
pub struct Checked {
    pub call: PassedCall,
    /// `None`: it reads.
    pub change: Option<Changing>,
    /// The cluster of the path.
    pub cluster: Option<Uuid>,
}

/// What a request changes.
#[derive(Debug, PartialEq, Eq)]
pub struct Changing {
    /// That of the audit log and the journal.
    pub action: &'static str,
    pub subject: Subject,
    /// What it is about, such as the name of a node group; may be empty.
    pub target: String,
}

/// What a change is a change of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A cluster that the request makes.
    NewCluster,
    Cluster(Uuid),
    /// A template or a quota, which has no journal.
    Other,
}

/// Why a request is not passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPermitted {
    #[error(
        "Portico does not pass this call on. Call the service itself, with OS_* or clouds.yaml."
    )]
    Call,
    #[error(
        "Portico does not pass this method on here. Call the service itself, with OS_* or clouds.yaml."
    )]
    Method,
    #[error("The query has an argument that Portico does not pass on.")]
    Query,
    #[error("The header OpenStack-API-Version is not a version.")]
    Version,
    #[error("The body is not JSON, or the request must not have one.")]
    Body,
    #[error("The request does not name the cluster by its UUID.")]
    Cluster,
}

impl NotPermitted {
    /// Returns the status of the response. It is never 404: a client would conclude that the cluster does
    /// not exist.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Call => StatusCode::FORBIDDEN,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Query | Self::Version | Self::Body | Self::Cluster => StatusCode::BAD_REQUEST,
        }
    }
}

/// Checks a request of a user of the project.
///
/// # Errors
/// Why it is not passed on.
pub fn check(request: &CloudRequest, project: &str) -> Result<Checked, NotPermitted> {
    let (service, path) = service(&request.path).ok_or(NotPermitted::Call)?;
    let below = match &path {
        PassedPath::Versions => "",
        PassedPath::Api(below) => below.as_str(),
    };
    let of_path = RULES
        .iter()
        .filter(|rule| rule.service == service)
        .filter_map(|rule| Some((rule, captures(rule.path, below, project)?)));
    let mut is_known = false;
    let found = of_path
        .inspect(|_| is_known = true)
        .find(|(rule, _)| rule.method == request.method.as_str());
    let Some((rule, captured)) = found else {
        return Err(match is_known {
            true => NotPermitted::Method,
            false => NotPermitted::Call,
        });
    };
    let body = body(rule, request)?;
    let cluster = cluster(rule, &captured)?;
    let mut query = query(rule, request.query.as_deref(), project)?;
    let accepted = take_accepted(&mut query)?;
    let change = match rule.method {
        "GET" => None,
        _ => Some(change(rule, (cluster, captured.as_slice()), body.as_ref())?),
    };
    let change = change.map(|change| match accepted {
        Some(accepted) => Changing {
            target: accepted.to_owned(),
            ..change
        },
        None => change,
    });
    Ok(Checked {
        call: PassedCall {
            service,
            operation: rule.name,
            method: request.method.clone(),
            query,
            version: version(request.version.as_deref())?,
            path,
            body,
        },
        change,
        cluster,
    })
}

/// Reads `container-infra/v1/clusters`.
fn service(path: &str) -> Option<(Service, PassedPath)> {
    if path == "container-infra/" {
        return Some((Service::Magnum, PassedPath::Versions));
    }
    Service::ALL.into_iter().find_map(|service| {
        let below = path.strip_prefix(service.gateway_path())?;
        let below = below.strip_prefix('/')?;
        Some((service, PassedPath::Api(below.to_owned())))
    })
}

/// Returns the variable segments of a path; `None` if it does not have the pattern. A segment with a
/// character that would have to be decoded, or that leads elsewhere, fits no pattern.
fn captures<'p>(pattern: &str, path: &'p str, project: &str) -> Option<Vec<&'p str>> {
    let mut captured = Vec::new();
    let mut segments = path.split('/');
    for part in pattern.split('/') {
        let segment = segments.next()?;
        let fits = match part {
            "{cluster}" => is_uuid(segment),
            "{id}" => is_id(segment),
            "{project}" => segment == project && is_id(segment),
            word => {
                if word != segment {
                    return None;
                }
                continue;
            }
        };
        if !fits {
            return None;
        }
        captured.push(segment);
    }
    segments.next().is_none().then_some(captured)
}

/// Returns whether a text is a UUID with hyphens: a name would make the journal another one's.
fn is_uuid(text: &str) -> bool {
    Uuid::try_parse(text).is_ok_and(|uuid| uuid.to_string().eq_ignore_ascii_case(text))
}

fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX_ID_BYTES).contains(&text.len())
        && text.bytes().all(plain)
        // the list of all, in place of one
        && text != "detail"
}

fn query(
    rule: &Rule,
    query: Option<&str>,
    project: &str,
) -> Result<Vec<(&'static str, String)>, NotPermitted> {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs
        .map(|(name, value)| {
            let known = rule.query.iter().find(|known| **known == name);
            // an administrator's token reads every project; Magnum's statistics are made for that
            let is_foreign = name == "project_id" && rule.service != Service::Magnum;
            known
                .filter(|_| !is_foreign || value == project)
                .map(|known| (*known, value.into_owned()))
                .ok_or(NotPermitted::Query)
        })
        .collect()
}

/// Takes what the user accepts out of the query of a deletion, in the words of the journal: the argument is not
/// Magnum's.
fn take_accepted(
    query: &mut Vec<(&'static str, String)>,
) -> Result<Option<&'static str>, NotPermitted> {
    let mut values = query.extract_if(.., |(name, _)| *name == ACCEPTED_ARGUMENT);
    let value = values.next().map(|(_, value)| value);
    let is_repeated = values.next().is_some();
    let Some(value) = value else {
        return Ok(None);
    };
    let words = DeletionOptions::accepted_by_kinds(&value).filter(|_| !is_repeated);
    words.map(Some).ok_or(NotPermitted::Query)
}

fn version(version: Option<&str>) -> Result<Option<String>, NotPermitted> {
    let Some(version) = version else {
        return Ok(None);
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b' ' | b'.');
    // further versions of other services show an administrator more than this API is for
    let is_of_magnum = version.starts_with("container-infra ");
    if !is_of_magnum || version.len() > MAX_VERSION_BYTES || !version.bytes().all(plain) {
        return Err(NotPermitted::Version);
    }
    Ok(Some(version.to_owned()))
}

fn body(rule: &Rule, request: &CloudRequest) -> Result<Option<Value>, NotPermitted> {
    if request.body.is_empty() {
        return Ok(None);
    }
    // of a call without a body, Magnum takes the fields of one for arguments of the path: it would change
    // another cluster than the one that was checked
    if rule.method != "POST" && !rule.name.starts_with("change_") {
        return Err(NotPermitted::Body);
    }
    let body = serde_json::from_slice(&request.body);
    body.map(Some).map_err(|_| NotPermitted::Body)
}

/// Returns the cluster of a path.
fn cluster(rule: &Rule, captured: &[&str]) -> Result<Option<Uuid>, NotPermitted> {
    if !rule.path.contains("{cluster}") {
        return Ok(None);
    }
    // it is the first variable segment of each pattern
    let segment = captured.first().ok_or(NotPermitted::Cluster)?;
    let cluster = segment.parse().map_err(|_| NotPermitted::Cluster)?;
    Ok(Some(cluster))
}

fn change(
    rule: &Rule,
    (cluster, captured): (Option<Uuid>, &[&str]),
    body: Option<&Value>,
) -> Result<Changing, NotPermitted> {
    let field = |name: &str| body?.get(name)?.as_str().map(str::to_owned);
    let subject = match rule.name {
        "create_cluster" => Subject::NewCluster,
        "sign_certificate" => {
            let uuid = field("cluster_uuid").filter(|uuid| is_uuid(uuid));
            let uuid = uuid.and_then(|uuid| uuid.parse().ok());
            Subject::Cluster(uuid.ok_or(NotPermitted::Cluster)?)
        }
        _ => cluster.map_or(Subject::Other, Subject::Cluster),
    };
    let target = match rule.name {
        "create_cluster" | "create_node_group" | "create_template" => field("name"),
        // Magnum resizes the default group then
        "resize_node_group" => field("nodegroup").or_else(|| Some(DEFAULT_GROUP.to_owned())),
        "upgrade_cluster" => field("cluster_template"),
        "create_quota" => field("project_id"),
        _ if rule.path.contains("{id}") => captured.last().map(|id| (*id).to_owned()),
        _ => None,
    };
    Ok(Changing {
        action: rule.name,
        subject,
        target: target.unwrap_or_default(),
    })
}
