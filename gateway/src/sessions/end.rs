//! Ends sessions: the row, open connections, and every Keystone token of a session.
use std::time::Duration;

use futures::{StreamExt as _, stream};
use jiff::SignedDuration;
use portico_store::{EndReason, PendingRevocation, SessionKind, StoreError};
use uuid::Uuid;

use super::Sessions;
use crate::metrics;

/// How long a sign-out waits for revocations before it leaves the rest to the queue.
const REVOCATION_TIMEOUT: Duration = Duration::from_secs(4);
/// How long one replica may take for a revocation before another one tries.
const CLAIM_TTL: SignedDuration = SignedDuration::from_secs(15);
const MAX_CONCURRENT_REVOCATIONS: usize = 8;

/// What a sign-out ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ended {
    pub apps: usize,
    pub cli: usize,
    pub tokens: usize,
    /// Keystone tokens that could not be revoked yet.
    pub pending: usize,
    /// Application credentials that still exist at Keystone, without their secret.
    pub left_over: usize,
}

impl Sessions {
    /// Ends a session, a browser's with all its children, and revokes its tokens as far as Keystone
    /// responds; the others remain in the queue.
    pub async fn end_session(&self, root: Uuid, reason: EndReason) -> Result<Ended, StoreError> {
        let now = self.clock.now();
        let sessions = self.store.sessions().end(root, reason, now).await?;
        metrics::sessions_ended(&sessions, reason);
        self.registry.end(root, reason);
        let count = |kind| sessions.iter().filter(|ended| ended.kind == kind).count();
        let pending = self
            .store
            .keystone_tokens()
            .pending_revocations(root)
            .await?;
        let total = pending.len();
        let (revoked, _) = tokio::join!(
            tokio::time::timeout(REVOCATION_TIMEOUT, self.revoke_all(pending)),
            tokio::time::timeout(REVOCATION_TIMEOUT, self.revoke_of_provider(root)),
        );
        let revoked = revoked.unwrap_or_default();
        // interrupted revocations may have succeeded: the store knows which tokens are left
        let left = self.store.keystone_tokens().pending_revocations(root).await;
        let pending = left.map_or(total - revoked, |left| left.len());
        let left_over = self.store.session_credentials().left_of_session(root).await;
        Ok(Ended {
            apps: count(SessionKind::App),
            cli: count(SessionKind::CommandLine),
            tokens: total.saturating_sub(pending),
            pending,
            left_over: left_over.map_or(0, |left| left.len()),
        })
    }

    /// Revokes tokens, several at once; returns how many are revoked.
    async fn revoke_all(&self, tokens: Vec<PendingRevocation>) -> usize {
        // the tokens that a session began with come first: what must be deleted with them has to be
        // deleted before the end of another token revokes them too
        let (first, rest): (Vec<_>, Vec<_>) = tokens.into_iter().partition(|token| token.unscoped);
        self.revoke_several(first).await + self.revoke_several(rest).await
    }

    async fn revoke_several(&self, tokens: Vec<PendingRevocation>) -> usize {
        stream::iter(tokens)
            .map(|token| self.revoke_pending(token))
            .buffer_unordered(MAX_CONCURRENT_REVOCATIONS)
            .filter(|revoked| std::future::ready(*revoked))
            .count()
            .await
    }

    async fn revoke_pending(&self, pending: PendingRevocation) -> bool {
        let (now, tokens) = (self.clock.now(), self.store.keystone_tokens());
        match tokens
            .claim_revocation(&pending, now + CLAIM_TTL, now)
            .await
        {
            Ok(true) => {}
            // another replica revokes it
            Ok(false) => return false,
            Err(error) => {
                tracing::warn!(%error, "a revocation cannot be claimed");
                return false;
            }
        }
        // the session's credential is deleted with its first token, which is then useless
        let deleted = !pending.unscoped
            || self
                .delete_credentials(pending.session, &pending.token)
                .await;
        let revoked = deleted && self.revoke(&pending.token).await;
        metrics::revocation(revoked);
        let written = if revoked {
            tokens.forget(pending.id).await
        } else {
            let exponent = u32::try_from(pending.attempts.clamp(0, 5)).unwrap_or(5);
            let wait = SignedDuration::from_secs(2_i64.pow(exponent));
            tokens
                .revocation_failed(pending.id, self.clock.now() + wait)
                .await
        };
        if let Err(error) = written {
            tracing::warn!(%error, "the outcome of a revocation could not be written down");
        }
        revoked
    }

    /// Revokes the tokens in the queue; called periodically.
    pub async fn revoke_due(&self) -> Result<(), StoreError> {
        let due = self
            .store
            .keystone_tokens()
            .due_revocations(64, self.clock.now())
            .await?;
        if !due.is_empty() {
            let total = due.len();
            let revoked = self.revoke_all(due).await;
            tracing::info!(total, revoked, "pending revocations tried");
        }
        Ok(())
    }
}
