//! Ending a session: its row, its connections, and every Keystone token it ever had.
use std::time::Duration;

use futures::{StreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};
use portico_store::{EndReason, PendingRevocation, SessionKind, StoreError};
use uuid::Uuid;

use crate::{meters, pages::sign_out::Ended, state::Gateway};

/// How long a sign-out waits for Keystone before it leaves the rest to the queue.
const PATIENCE: Duration = Duration::from_secs(4);
const AT_ONCE: usize = 8;

impl Gateway {
    /// Ends a browser session with all its children, and revokes its tokens as far as Keystone
    /// answers; what is left stays in the queue.
    pub async fn end_session(&self, root: Uuid, reason: EndReason) -> Result<Ended, StoreError> {
        let now = Timestamp::now();
        let sessions = self.store.sessions().end(root, reason, now).await?;
        meters::sessions_ended(&sessions, reason);
        self.registry.end(root, reason);
        let count = |kind| sessions.iter().filter(|ended| ended.kind == kind).count();
        let pending = self
            .store
            .keystone_tokens()
            .pending_revocations(root)
            .await?;
        let total = pending.len();
        let (revoked, _) = tokio::join!(
            tokio::time::timeout(PATIENCE, self.revoke_all(pending)),
            tokio::time::timeout(PATIENCE, self.revoke_of_provider(root)),
        );
        let revoked = revoked.unwrap_or_default();
        // what was interrupted may have been revoked all the same: the store knows what is left
        let left = self.store.keystone_tokens().pending_revocations(root).await;
        let pending = left.map_or(total - revoked, |left| left.len());
        Ok(Ended {
            apps: count(SessionKind::App),
            cli: count(SessionKind::CommandLine),
            tokens: total.saturating_sub(pending),
            pending,
        })
    }

    /// Revokes tokens, several at once; answers with how many are gone.
    async fn revoke_all(&self, tokens: Vec<PendingRevocation>) -> usize {
        stream::iter(tokens)
            .map(|token| self.revoke_pending(token))
            .buffer_unordered(AT_ONCE)
            .filter(|revoked| std::future::ready(*revoked))
            .count()
            .await
    }

    async fn revoke_pending(&self, pending: PendingRevocation) -> bool {
        let tokens = self.store.keystone_tokens();
        let revoked = self.revoke(&pending.token).await;
        meters::revocation(revoked);
        let written = if revoked {
            tokens.forget(pending.id).await
        } else {
            let exponent = u32::try_from(pending.attempts.clamp(0, 5)).unwrap_or(5);
            let wait = SignedDuration::from_secs(2_i64.pow(exponent));
            tokens
                .revocation_failed(pending.id, Timestamp::now() + wait)
                .await
        };
        if let Err(error) = written {
            tracing::warn!(%error, "the outcome of a revocation could not be written down");
        }
        revoked
    }

    /// Works off the queue of revocations; called again and again.
    pub async fn revoke_due(&self) -> Result<(), StoreError> {
        let due = self
            .store
            .keystone_tokens()
            .due_revocations(64, Timestamp::now())
            .await?;
        if !due.is_empty() {
            let total = due.len();
            let revoked = self.revoke_all(due).await;
            tracing::info!(total, revoked, "pending revocations tried");
        }
        Ok(())
    }
}
