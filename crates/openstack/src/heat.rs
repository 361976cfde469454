//! What Portico reads of Heat's API (`orchestration`), version 1: the events of a stack.
use crate::lenient;
use crate::rest::{Call, Error, ErrorKind, RestClient, ScopedToken, Service};
use jiff::Timestamp;
use serde::Deserialize;
use std::collections::HashSet;
use uuid::Uuid;

/// Levels of stacks in a stack whose events are read: Magnum's driver makes a stack of each kind of node,
/// with a stack of each node.
const NESTED_DEPTH: &str = "2";
/// The size of pages that is asked for.
const PAGE_EVENTS: usize = 100;
/// Maximum number of pages of one read. Heat stores 1,000 events of each stack, unless its operator has
/// configured another number.
const MAX_PAGES: usize = 20;

/// A client of Heat; cheap to clone, holds no token.
#[derive(Clone, Debug)]
pub struct Client {
    rest: RestClient,
}

/// A stack.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Stack {
    pub id: Uuid,
    #[serde(rename = "stack_name")]
    pub name: String,
    /// Such as `CREATE_COMPLETE`.
    #[serde(
        rename = "stack_status",
        default,
        deserialize_with = "lenient::or_default"
    )]
    pub status: String,
}

/// An event of a resource of a stack, or of the stack itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Event {
    pub id: String,
    /// The name of the resource in the template, or that of the stack.
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub resource_name: String,
    /// The ID of what the resource has made, such as a server; before that, a name for it.
    #[serde(default)]
    pub physical_resource_id: Option<String>,
    /// What is done, and how far it is, such as `CREATE_COMPLETE` or `SIGNAL_IN_PROGRESS`.
    #[serde(
        rename = "resource_status",
        default,
        deserialize_with = "lenient::or_default"
    )]
    pub status: String,
    #[serde(
        rename = "resource_status_reason",
        default,
        deserialize_with = "lenient::or_default"
    )]
    pub reason: String,
    #[serde(rename = "event_time", default, deserialize_with = "lenient::time")]
    pub at: Option<Timestamp>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    links: Vec<Link>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Link {
    #[serde(default, deserialize_with = "lenient::or_default")]
    rel: String,
    #[serde(default, deserialize_with = "lenient::or_default")]
    href: String,
}

/// The newest events of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Events {
    /// The oldest first.
    pub items: Vec<Event>,
    /// Whether there may be older ones that are not known.
    pub is_cut: bool,
}

impl Event {
    /// Returns the name of the stack that has the resource. It differs from that of a cluster's stack for a
    /// resource of a stack in it.
    pub fn stack_name(&self) -> Option<&str> {
        let link = self.links.iter().find(|link| link.rel == "stack")?;
        // `…/stacks/<name>/<ID>`
        let name = link.href.rsplit('/').nth(1)?;
        is_name(name).then_some(name)
    }
}

#[derive(Deserialize)]
struct StacksAnswer {
    stacks: Vec<Stack>,
}

#[derive(Deserialize)]
struct EventsAnswer {
    events: Vec<Event>,
}

impl Client {
    /// Makes a client on a client for services; sends no request yet.
    pub fn new(rest: RestClient) -> Self {
        Self { rest }
    }

    /// Returns whether the cloud has Heat for the token's project. Magnum's drivers for Cluster API do not
    /// need it.
    pub fn is_offered(&self, token: &ScopedToken) -> bool {
        self.rest.base(Service::Heat, "stack", token).is_ok()
    }

    /// Returns the stack of the token's project with this ID, also one that was deleted, which Heat
    /// remembers for some time; `None` if there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Endpoint`] on a cloud without Heat; if Heat cannot be asked or refuses.
    pub async fn stack(&self, token: &ScopedToken, id: Uuid) -> Result<Option<Stack>, Error> {
        let call = Call::get("stack", "stacks")
            .with_query("id", id.to_string())
            .with_query("show_deleted", "true");
        let answer: StacksAnswer = self.rest.read(Service::Heat, token, call).await?;
        Ok(answer.stacks.into_iter().find(|stack| stack.id == id))
    }

    /// Returns the newest events of a stack and of the stacks in it, up to a page that has one of the known
    /// events, and at most 2,000.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if Heat no longer remembers the stack; as [`Self::stack`].
    pub async fn events(
        &self,
        token: &ScopedToken,
        stack: &Stack,
        known: &HashSet<String>,
    ) -> Result<Events, Error> {
        let nested = self.pages(token, stack, Some(NESTED_DEPTH), known).await?;
        if !nested.items.is_empty() {
            return Ok(nested);
        }
        // Heat finds stacks in a stack by their resources: none are left after a deletion
        self.pages(token, stack, None, known).await
    }

    /// Reads the pages of a list, whose first one has the newest events.
    async fn pages(
        &self,
        token: &ScopedToken,
        stack: &Stack,
        depth: Option<&'static str>,
        known: &HashSet<String>,
    ) -> Result<Events, Error> {
        const OPERATION: &str = "stack_events";
        if !is_name(&stack.name) {
            let kind = ErrorKind::Malformed("a name that no stack can have");
            return Err(Error::new(Service::Heat, OPERATION, kind));
        }
        let path = format!("stacks/{}/{}/events", stack.name, stack.id);
        let mut ids = HashSet::new();
        let mut items = Vec::new();
        let mut marker: Option<String> = None;
        let mut is_cut = true;
        for _ in 0..MAX_PAGES {
            let mut call =
                Call::get(OPERATION, path.as_str()).with_query("limit", PAGE_EVENTS.to_string());
            if let Some(depth) = depth {
                call = call.with_query("nested_depth", depth);
            }
            if let Some(marker) = &marker {
                call = call.with_query("marker", marker.as_str());
            }
            let page: EventsAnswer = self.rest.read(Service::Heat, token, call).await?;
            let is_last = page.events.len() < PAGE_EVENTS;
            let has_known = page.events.iter().any(|event| known.contains(&event.id));
            marker = page.events.last().map(|event| event.id.clone());
            let before = items.len();
            for event in page.events {
                if ids.insert(event.id.clone()) {
                    items.push(event);
                }
            }
            if is_last || has_known {
                is_cut = false;
                break;
            }
            // it begins again if it does not know the marker, which may be deleted meanwhile
            if items.len() == before {
                break;
            }
        }
        items.reverse();
        Ok(Events { items, is_cut })
    }
}

/// Returns whether a text may be the name of a stack, and thereby a segment of a path.
fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.len() <= 255
        && text.bytes().all(plain)
}

#[cfg(test)]
mod tests;
