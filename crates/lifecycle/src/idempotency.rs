//! Creates a cluster once, also when the response to the request is lost.
//!
//! Magnum has no idempotency key. Portico puts a marker of its own into the labels of the request, and
//! looks for it before every attempt. The caller stores the attempt before it sends, and lets only one
//! replica at a time work on a marker.
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The label that carries the marker. Drivers ignore it.
pub const MARKER_LABEL: &str = "portico_request";

/// The longest time of the request itself: the time limit of a change in `portico-openstack`.
pub const MAX_REQUEST_TIME: SignedDuration = SignedDuration::from_secs(65);
/// How long after the request was sent to look for its record if the response was lost, before the user
/// is asked. It contains the time of the request: one that ends with a timeout, or with the 504 of a
/// proxy, is looked for during a minute too.
pub const SEARCH_TIME: SignedDuration =
    MAX_REQUEST_TIME.saturating_add(SignedDuration::from_secs(60));
/// Pause between two searches.
const SEARCH_PAUSE: SignedDuration = SignedDuration::from_secs(2);
/// By how much the clocks of Portico and Magnum may differ.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(2);

/// What is known about the delivery of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Nothing was sent, or the connection failed before the request could be.
    NotSent,
    /// Magnum answered with a refusal (4xx).
    Refused,
    /// Magnum answered with the UUID.
    Accepted(String),
    /// Sent, and the response was lost: a timeout, a reset, a 5xx of Magnum or of a proxy.
    Unknown,
}

/// One creation, however often it is attempted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// A random text, made once by the client for one submission of a form or one run of a command.
    pub marker: String,
    /// The name of the cluster.
    pub name: String,
    /// When the request was last sent.
    pub sent_at: Option<Timestamp>,
    /// What is known about that request.
    pub delivery: Delivery,
}

impl Attempt {
    /// Begins an attempt.
    pub fn new(marker: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            marker: marker.into(),
            name: name.into(),
            sent_at: None,
            delivery: Delivery::NotSent,
        }
    }

    /// Notes that the request is about to be sent. The caller stores the attempt before it sends: what
    /// follows may be a power failure.
    pub fn begin_sending(&mut self, now: Timestamp) {
        self.sent_at = Some(now);
        self.delivery = Delivery::Unknown;
    }

    /// Notes the UUID that Magnum answered. The attempt stays stored until the cluster has a record:
    /// until then, another attempt would make a second cluster.
    pub fn accept(&mut self, uuid: impl Into<String>) {
        self.delivery = Delivery::Accepted(uuid.into());
    }

    /// Returns the request with the marker.
    pub fn marked(&self, request: &Map<String, Value>) -> Map<String, Value> {
        let mut request = request.clone();
        mark(&mut request, &self.marker);
        request
    }
}

/// A cluster of the project, from Magnum's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub uuid: String,
    pub name: String,
    /// The value of [`MARKER_LABEL`].
    pub marker: Option<String>,
    pub created_at: Option<Timestamp>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send the request: no earlier one can have reached Magnum.
    Send,
    /// Continue with this cluster: it is the one that was requested.
    Adopt(String),
    /// List the clusters again at this time.
    LookAgain(Timestamp),
    /// Portico does not send again by itself. The user decides.
    Ask(LostResponse),
}

/// Why the user must decide.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LostResponse {
    /// No cluster has the marker.
    #[error(
        "The response to the request was lost, and no cluster appeared. Magnum may still hold the request \
         in its queue: look again later, or create the cluster under another name."
    )]
    NothingFound,
    /// Clusters with the name appeared after the request, without the marker.
    #[error(
        "The response to the request was lost. Clusters with this name were created at that time: {}. Choose \
         yours, or create another one.",
        .0.join(", ")
    )]
    SameName(Vec<String>),
    /// Several clusters have the marker; the oldest is first.
    #[error(
        "The request made more than one cluster: {}. Use one, and delete the others.",
        .0.join(", ")
    )]
    Duplicates(Vec<String>),
}

/// Puts the marker into the labels of a request.
pub fn mark(request: &mut Map<String, Value>, marker: &str) {
    // without it, the marker would replace all labels of the template
    request.insert("merge_labels".to_owned(), json!(true));
    let labels = request.entry("labels").or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert(MARKER_LABEL.to_owned(), json!(marker));
    }
}

/// Decides about an attempt. `found` are all clusters of the project, listed at `now`; `None`: Magnum
/// could not list them.
pub fn decide(attempt: &Attempt, found: Option<&[Candidate]>, now: Timestamp) -> Decision {
    if let Delivery::Accepted(uuid) = &attempt.delivery {
        return Decision::Adopt(uuid.clone());
    }
    let Some(found) = found else {
        return Decision::LookAgain(later(now));
    };
    let mut ours: Vec<&Candidate> = found
        .iter()
        .filter(|candidate| candidate.marker.as_ref() == Some(&attempt.marker))
        .collect();
    ours.sort_by_key(|candidate| candidate.created_at);
    match ours.as_slice() {
        [] => {}
        [one] => return Decision::Adopt(one.uuid.clone()),
        many => {
            let uuids = many
                .iter()
                .map(|candidate| candidate.uuid.clone())
                .collect();
            return Decision::Ask(LostResponse::Duplicates(uuids));
        }
    }
    match (&attempt.delivery, attempt.sent_at) {
        (Delivery::Unknown, Some(sent_at)) => lost(attempt, found, sent_at, now),
        // stored as sent without a time: as if it had just been sent
        (Delivery::Unknown, None) => Decision::LookAgain(later(now)),
        _ => Decision::Send,
    }
}

fn lost(attempt: &Attempt, found: &[Candidate], sent_at: Timestamp, now: Timestamp) -> Decision {
    if now.duration_since(sent_at) < SEARCH_TIME {
        return Decision::LookAgain(later(now));
    }
    let is_since = |candidate: &&Candidate| {
        candidate.name == attempt.name
            && candidate.marker.is_none()
            && candidate
                .created_at
                .is_none_or(|created| created.duration_since(sent_at) >= -CLOCK_SKEW)
    };
    let same_name: Vec<String> = found
        .iter()
        .filter(is_since)
        .map(|candidate| candidate.uuid.clone())
        .collect();
    Decision::Ask(if same_name.is_empty() {
        LostResponse::NothingFound
    } else {
        LostResponse::SameName(same_name)
    })
}

fn later(now: Timestamp) -> Timestamp {
    now.saturating_add(SEARCH_PAUSE).unwrap_or(now)
}
