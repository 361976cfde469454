//! The proof that a user may read what a watch delivers.
use super::WatchScope;
use crate::kube::{Api, KubeError, reviews};
use std::time::Duration;
use tokio::time::Instant;

/// A user reads rows for this long after the last confirmation.
pub const MAX_CONFIRMATION_AGE: Duration = Duration::from_secs(60);

/// A user's confirmed right to list and watch one scope. Only [`confirm`] makes one.
pub struct Confirmation {
    scope: WatchScope,
    api: Api,
    /// When the reviews began.
    at: Instant,
}

/// Asks the API server, with the user's own token, whether the user may list and watch exactly
/// this scope. The answer never comes from a cache; later reviews of these questions know it. `None` if one of the two is not allowed.
///
/// # Errors
/// Those of the reviews. An outage is an error, never a yes.
pub async fn confirm(api: &Api, scope: &WatchScope) -> Result<Option<Confirmation>, KubeError> {
    let at = Instant::now();
    let question = |verb| reviews::question(verb, &scope.resource, scope.namespace.as_deref());
    let (list, watch) = (question("list"), question("watch"));
    let (list, watch) = tokio::try_join!(reviews::renew(api, &list), reviews::renew(api, &watch))?;
    Ok((list.allowed && watch.allowed).then(|| Confirmation {
        scope: scope.clone(),
        api: api.clone(),
        at,
    }))
}

impl Confirmation {
    pub fn scope(&self) -> &WatchScope {
        &self.scope
    }

    /// Returns when rows may not be read on it any more.
    pub(super) fn expires_at(&self) -> Instant {
        self.at + MAX_CONFIRMATION_AGE
    }

    /// Returns the user's access, which a watch may borrow until [`Self::expires_at`].
    pub(super) fn api(&self) -> &Api {
        &self.api
    }

    #[cfg(test)]
    pub(super) fn for_test(scope: WatchScope, api: Api, at: Instant) -> Self {
        Self { scope, api, at }
    }
}
