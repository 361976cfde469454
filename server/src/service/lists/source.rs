//! Where the rows of a list come from: shared watches, as far as the user may join them, else the
//! user's own requests.
use super::{arrangement::ListRows, filter::Filter};
use crate::{
    config::panel::StreamLimits,
    kube::{Api, KubeError, discovery, listing, namespaces},
    shared_watch::{Rows, SharedWatches, State, Viewer, confirm},
};
use futures::{StreamExt, stream};
use portico_domain::panel::{ListScope, ResourceKind, ResourceRef};
use std::sync::Arc;
use tokio::sync::Notify;

/// Maximum number of watched places of one list; a list of more namespaces is polled.
const MAX_WATCHES: usize = StreamLimits::MAX_WATCHES_PER_LIST;
const MAX_CONCURRENT_CONFIRMATIONS: usize = 6;

/// A list that was opened.
pub struct Opened {
    pub kind: ResourceKind,
    pub scope: ListScope,
    /// One for each place of the scope; `None` if the user may list it, but has to do so alone:
    /// without the right to watch, or over too many namespaces.
    pub viewers: Option<Vec<Viewer>>,
}

/// Opens a list: determines its scope and joins the watches of its places.
///
/// # Errors
/// Those of discovery and of the access reviews. What the API server refuses to list is not an error
/// here: the list itself will say it in the API server's words.
pub async fn open(
    watches: &SharedWatches,
    api: &Api,
    resource: &ResourceRef,
    namespaces: &[String],
    changed: Arc<Notify>,
) -> Result<Opened, KubeError> {
    let kind = discovery::kind(api, resource).await?;
    let scope = namespaces::scope(api, &kind, namespaces, "list").await?;
    let places = listing::places(&scope);
    let is_watchable = kind.verbs.iter().any(|verb| verb == "watch");
    let viewers = if is_watchable && places.len() <= MAX_WATCHES {
        join(watches, api, resource, places, changed).await?
    } else {
        None
    };
    Ok(Opened {
        kind,
        scope,
        viewers,
    })
}

/// Joins the watch of each place; `None` if one of them is not allowed, or there are too many watches.
async fn join(
    watches: &SharedWatches,
    api: &Api,
    resource: &ResourceRef,
    places: Vec<Option<String>>,
    changed: Arc<Notify>,
) -> Result<Option<Vec<Viewer>>, KubeError> {
    let confirmations: Vec<_> = stream::iter(places)
        .map(|place| async move {
            let scope = watches.scope(api, resource, place.as_deref()).await?;
            confirm(api, &scope).await
        })
        .buffered(MAX_CONCURRENT_CONFIRMATIONS)
        .collect()
        .await;
    let mut confirmed = Vec::with_capacity(confirmations.len());
    for confirmation in confirmations {
        match confirmation? {
            Some(confirmation) => confirmed.push(confirmation),
            None => return Ok(None),
        }
    }
    Ok(confirmed
        .into_iter()
        .map(|confirmation| watches.join(confirmation, Arc::clone(&changed)))
        .collect())
}

/// How far the places of a list are.
#[derive(Debug)]
pub enum PlaceState {
    Loading,
    Live,
    Failed(KubeError),
}

/// Returns the state of the place that is worst off.
pub fn places_state(viewers: &[Viewer]) -> PlaceState {
    let mut worst = PlaceState::Live;
    for viewer in viewers {
        match viewer.state() {
            State::Live => {}
            State::Loading => worst = PlaceState::Loading,
            State::Stale { error, .. } | State::Refused(error) => return PlaceState::Failed(error),
            State::Unconfirmed => return PlaceState::Failed(unconfirmed()),
        }
    }
    worst
}

/// The error of a viewer whose rights could not be reviewed in time.
pub fn unconfirmed() -> KubeError {
    KubeError::Unreachable("the access reviews were not answered for 60 seconds".to_owned())
}

impl Opened {
    /// Waits until the list can be shown: until all its rows are there, or if `filter` is in the API
    /// server's own order and leaves nothing out, the first ones. A namespace that refuses the list, as one that is
    /// being deleted does, is left out of a merged one.
    ///
    /// # Errors
    /// The reason why a place cannot be listed.
    pub async fn ready(
        &mut self,
        changed: &Notify,
        filter: Option<&Filter>,
    ) -> Result<(), KubeError> {
        let Some(viewers) = &mut self.viewers else {
            return Ok(());
        };
        loop {
            if let ListScope::Namespaces {
                listed, refused, ..
            } = &mut self.scope
            {
                leave_out_refused(viewers, listed, refused);
            }
            match places_state(viewers) {
                PlaceState::Live => return Ok(()),
                PlaceState::Loading if filter.is_none_or(Filter::needs_all_rows) => {}
                PlaceState::Loading => {
                    let has_first = |viewer: &Viewer| {
                        viewer.read(|rows| !rows.columns().is_empty()) == Some(true)
                    };
                    if viewers.len() == 1 && viewers.iter().all(has_first) {
                        return Ok(());
                    }
                }
                PlaceState::Failed(error) => return Err(error),
            }
            changed.notified().await;
        }
    }
}

fn leave_out_refused(
    viewers: &mut Vec<Viewer>,
    listed: &mut Vec<String>,
    refused: &mut Vec<String>,
) {
    let is_refused =
        |viewer: &Viewer| matches!(viewer.state(), State::Refused(KubeError::Refused(_)));
    // if all of them are, that is the reason why there is no list
    if viewers.iter().all(is_refused) {
        return;
    }
    viewers.retain(|viewer| {
        let is_refused = is_refused(viewer);
        if is_refused && let Some(namespace) = viewer.scope().namespace() {
            listed.retain(|name| name != namespace);
            refused.push(namespace.to_owned());
        }
        !is_refused
    });
    refused.sort_unstable();
}

/// Returns the versions of the rows of each place; `None` if the user's rights in one of them are not
/// confirmed.
pub fn versions(viewers: &[Viewer]) -> Option<Vec<u64>> {
    viewers
        .iter()
        .map(|viewer| viewer.read(Rows::version))
        .collect()
}

/// Returns all rows of a list, with the versions of its places; `None` if the user's rights in one of
/// them are not confirmed.
pub fn collect(viewers: &[Viewer]) -> Option<(ListRows, Vec<u64>)> {
    let mut all = ListRows::default();
    let mut versions = Vec::with_capacity(viewers.len());
    for viewer in viewers {
        viewer.read(|place| {
            all.rows.extend(place.iter().cloned());
            all.remaining += place.remaining();
            all.bytes += place.bytes();
            all.is_cut |= place.is_cut();
            if all.columns.is_empty() {
                all.columns = Arc::clone(place.columns());
            }
            versions.push(place.version());
        })?;
    }
    Some((all, versions))
}
