//! Lists of several pages.
//!
//! Of a link to the next page only its `marker` is used, as an argument of the call that was sent
//! before. Its host is the name that the service has for itself, which is often not reachable, and
//! a token must not be sent where a response points.
use super::answer::Answer;
use super::call::Call;
use super::client::{RestClient, ScopedToken};
use super::error::{Error, ErrorKind};
use super::service::Service;
use reqwest::StatusCode;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::HashSet;
use url::form_urlencoded;

/// Maximum number of entries in one list; a project has a few hundred volumes and ports.
const MAX_ITEMS: usize = 20_000;
const MAX_PAGES: usize = 50;
/// The size of pages that is asked for.
pub(crate) const PAGE_SIZE: &str = "500";

/// A list, without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing<T> {
    pub items: Vec<T>,
    /// Why it ends early; `None` if it is complete.
    pub cut: Option<Cut>,
}

/// Why a list ends before its end. It must not be read as if what is missing did not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    #[error("the service's links to the next page repeat")]
    RepeatedLink,
    #[error("the service's link to the next page cannot be used")]
    UnusableLink,
    #[error("it is longer than 20,000 entries or 50 pages")]
    TooLong,
}

impl<T> Listing<T> {
    /// Returns the list with the entries that fulfil a condition.
    pub fn filtered(mut self, condition: impl FnMut(&T) -> bool) -> Self {
        self.items.retain(condition);
        self
    }
}

/// The collection that a list is made from.
pub(crate) struct Collection<T> {
    /// The key of the entries in each page.
    pub key: &'static str,
    /// Returns the ID of an entry, by which duplicates are left out.
    pub id: fn(&T) -> String,
}

impl RestClient {
    /// Returns all pages of a collection. If an entry that served as a marker has been deleted
    /// between two pages, the list is read once more.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        service: Service,
        token: &ScopedToken,
        call: Call,
        collection: &Collection<T>,
    ) -> Result<Listing<T>, Error> {
        match self.list_once(service, token, &call, collection).await {
            Err(ListError::LostMarker(_)) => {
                let again = self.list_once(service, token, &call, collection).await;
                again.map_err(ListError::into_inner)
            }
            result => result.map_err(ListError::into_inner),
        }
    }

    async fn list_once<T: DeserializeOwned>(
        &self,
        service: Service,
        token: &ScopedToken,
        call: &Call,
        collection: &Collection<T>,
    ) -> Result<Listing<T>, ListError> {
        let mut items = Vec::new();
        let mut ids = HashSet::new();
        let mut markers = HashSet::new();
        let mut next: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let page_call = match &next {
                Some(marker) => call.clone().with_query("marker", marker.as_str()),
                None => call.clone(),
            };
            let understand = |answer: &Answer| page::<T>(answer, collection.key);
            let page = self.run(service, token, page_call, understand).await;
            let page = page.map_err(|error| ListError::new(error, next.is_some()))?;
            for item in page.items {
                if ids.insert((collection.id)(&item)) {
                    items.push(item);
                }
            }
            let cut = match page.next {
                Next::None => return Ok(Listing { items, cut: None }),
                Next::Unusable => Some(Cut::UnusableLink),
                Next::Marker(marker) if !markers.insert(marker.clone()) => Some(Cut::RepeatedLink),
                Next::Marker(_) if items.len() >= MAX_ITEMS => Some(Cut::TooLong),
                Next::Marker(marker) => {
                    next = Some(marker);
                    None
                }
            };
            if cut.is_some() {
                return Ok(Listing { items, cut });
            }
        }
        Ok(Listing {
            items,
            cut: Some(Cut::TooLong),
        })
    }
}

enum ListError {
    /// A page after the first was refused: its marker may have been deleted.
    LostMarker(Error),
    Failed(Error),
}

impl ListError {
    fn new(error: Error, had_marker: bool) -> Self {
        match error.kind {
            ErrorKind::NotFound(_) | ErrorKind::Invalid(_) if had_marker => Self::LostMarker(error),
            _ => Self::Failed(error),
        }
    }

    fn into_inner(self) -> Error {
        match self {
            Self::LostMarker(error) | Self::Failed(error) => error,
        }
    }
}

struct Page<T> {
    items: Vec<T>,
    next: Next,
}

enum Next {
    None,
    Marker(String),
    Unusable,
}

fn page<T: DeserializeOwned>(answer: &Answer, key: &'static str) -> Result<Page<T>, ErrorKind> {
    let mut body: Map<String, Value> = answer.json(&[StatusCode::OK])?;
    let items = body.remove(key);
    let items = items.ok_or(ErrorKind::Malformed("no list in the answer"))?;
    Ok(Page {
        items: serde_json::from_value(items)
            .map_err(|_| ErrorKind::Malformed("unexpected content"))?,
        next: next(&body, key),
    })
}

/// Finds the next page in `next` (Magnum, Glance) or `<key>_links` (the others).
fn next(body: &Map<String, Value>, key: &str) -> Next {
    let link = match body.get("next") {
        None | Some(Value::Null) => {
            let links = body.get(&format!("{key}_links")).and_then(Value::as_array);
            let is_next = |link: &&Value| link.get("rel").and_then(Value::as_str) == Some("next");
            match links.and_then(|links| links.iter().find(is_next)) {
                Some(link) => link.get("href"),
                None => return Next::None,
            }
        }
        link => link,
    };
    let marker = link.and_then(Value::as_str).and_then(|link| {
        let (_, query) = link.split_once('?')?;
        let query = query.split('#').next()?;
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        let (_, marker) = pairs.find(|(name, _)| name == "marker")?;
        (!marker.is_empty()).then(|| marker.into_owned())
    });
    marker.map_or(Next::Unusable, Next::Marker)
}
