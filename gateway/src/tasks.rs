//! Background tasks of the gateway: validates sessions in use, revokes tokens, deletes expired
//! data.
use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};
use portico_proxy::upstream::health;
use portico_store::EndReason;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::{
    composition::Parts,
    metrics,
    sessions::{feed, live::Live},
};

/// Bounds the concurrent calls of one background task.
const MAX_CONCURRENT_CALLS: usize = 8;
/// Bounds how long shutdown waits until open WebSockets have been sent their close frame.
const WEBSOCKET_CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs until `stop` is cancelled; then closes streams that would not end by themselves.
pub(crate) async fn run(parts: Arc<Parts>, stop: CancellationToken) {
    let apps = parts.hosts.apps();
    let all = async {
        tokio::join!(
            every(feed::READ_INTERVAL, || follow(&parts)),
            every(Duration::from_secs(1), || recheck_open(&parts)),
            every(Duration::from_secs(2), || revoke_due(&parts)),
            every(Duration::from_secs(2), || ask_keystone(&parts)),
            every(Duration::from_secs(10), || parts.sessions.fetch_due()),
            every(Duration::from_secs(5), || validate_active(&parts)),
            every(Duration::from_secs(2), || refresh_active(&parts)),
            every(Duration::from_secs(60), || discover(&parts)),
            every(Duration::from_secs(30), || sweep(&parts)),
            every(Duration::from_secs(30), || chain_audit(&parts)),
            every(Duration::from_secs(900), || trim_audit(&parts)),
            every(Duration::from_secs(5), || read_certificates(&parts)),
            every(Duration::from_secs(3), || read_credentials(&parts)),
            health::watch(apps.iter().map(|app| &app.upstream)),
        )
    };
    tokio::select! {
        _ = all => {}
        () = stop.cancelled() => {}
    }
    parts.forwarder.draining.cancel();
    parts.forwarder.tunnels.close();
    let notified = tokio::time::timeout(WEBSOCKET_CLOSE_TIMEOUT, parts.forwarder.tunnels.wait());
    if notified.await.is_err() {
        tracing::debug!("some WebSockets did not close in time");
    }
    // what the panel changes is recorded, also for a client that has left; the deadline of the stop bounds it
    let changes = &parts.handlers.reverse_proxy.changes;
    changes.close();
    changes.wait().await;
}

async fn every<F: Future<Output = ()>>(period: Duration, mut work: impl FnMut() -> F) {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        work().await;
    }
}

/// Follows the changes that other replicas make to sessions.
async fn follow(parts: &Arc<Parts>) {
    let was_current = parts.sessions.registry.is_covered();
    if let Err(error) = parts.sessions.registry.follow().await {
        // logged once each time the feed becomes stale
        if was_current {
            tracing::warn!(%error, "the feed of changes cannot be read: each request asks the store");
        }
        metrics::feed_failed();
    }
    metrics::feed(parts.sessions.registry.lag());
}

/// Reads sessions with open connections again that seem expired, or that the feed does not cover.
async fn recheck_open(parts: &Arc<Parts>) {
    let suspected = parts.sessions.registry.suspected(parts.clock.now());
    stream::iter(suspected)
        .for_each_concurrent(MAX_CONCURRENT_CALLS, |live| async move {
            if let Err(error) = parts.sessions.registry.recheck(&live).await {
                tracing::debug!(%error, "an open session could not be looked at again");
                parts.sessions.registry.doubt();
            }
        })
        .await;
}

async fn revoke_due(parts: &Arc<Parts>) {
    if let Err(error) = parts.sessions.revoke_due().await {
        tracing::warn!(%error, "the queue of revocations cannot be read");
    }
    if let Err(error) = parts.sessions.revoke_ended_of_providers().await {
        tracing::warn!(%error, "the queue of providers' revocations cannot be read");
    }
}

/// Refreshes sessions in use ahead of time, so that no request has to wait.
async fn refresh_active(parts: &Arc<Parts>) {
    let now = parts.clock.now();
    for live in parts.sessions.registry.all() {
        if live.is_active(now) && parts.sessions.refresh_is_due(&live, now) {
            drop(parts.sessions.refresh_in_background(&live));
        }
    }
}

/// Refreshes the providers' metadata, so that the sign-in page knows which one is down and users do
/// not wait for it.
async fn discover(parts: &Arc<Parts>) {
    stream::iter(parts.providers.all())
        .for_each_concurrent(MAX_CONCURRENT_CALLS, |provider| async move {
            if let Err(error) = provider.client.discover().await {
                tracing::debug!(provider = provider.config.id, %error, "not discovered");
            }
        })
        .await;
}

/// Reads certificates and authorities of upstreams again, where they have changed.
async fn read_certificates(parts: &Arc<Parts>) {
    for app in parts.hosts.apps() {
        if app.upstream.has_files() {
            let app = Arc::clone(app);
            // a failed read changes nothing; the next one follows soon
            let _ = tokio::task::spawn_blocking(move || app.upstream.follow_files()).await;
        }
    }
}

/// Reads passwords and tokens of apps again, which operators replace at run time.
async fn read_credentials(parts: &Arc<Parts>) {
    if parts.identities.has_files() {
        let parts = Arc::clone(parts);
        // a failed read changes nothing; the next one follows soon
        let _ = tokio::task::spawn_blocking(move || parts.identities.read_again()).await;
    }
}

async fn ask_keystone(parts: &Arc<Parts>) {
    let answers = parts.sessions.keystone.version().await.is_ok();
    parts.sessions.set_keystone_answers(answers);
}

async fn validate_active(parts: &Arc<Parts>) {
    let now = parts.clock.now();
    let every = signed(parts.sessions.config.validate_every);
    let bound = every + signed(parts.sessions.config.stale_for);
    let age = |live: &Arc<Live>| now.duration_since(live.root().keystone_checked_at);
    let due: Vec<Arc<Live>> = parts
        .sessions
        .registry
        .all()
        .into_iter()
        .filter(|live| live.is_active(now) && live.root().has_keystone())
        // slightly early, so that no request has to wait
        .filter(|live| live.is_stale() || age(live) >= every - SignedDuration::from_secs(10))
        .collect();
    stream::iter(due)
        .for_each_concurrent(MAX_CONCURRENT_CALLS, |live| async move {
            if age(&live) > bound {
                // the use of outdated roles is bounded, for streams too
                live.connections.renew();
            }
            if !parts.sessions.keystone_answers() && (live.is_stale() || age(&live) < every) {
                return;
            }
            if let Err(error) = parts.sessions.validate(&live, None).await {
                tracing::warn!(%error, "a session could not be validated");
            }
        })
        .await;
}

async fn sweep(parts: &Arc<Parts>) {
    let now = parts.clock.now();
    match parts.store.sweep(now).await {
        Ok(swept) => {
            metrics::sessions_ended(&swept.ended, EndReason::Expired);
            for ended in &swept.ended {
                parts.sessions.registry.end(ended.id, EndReason::Expired);
            }
        }
        Err(error) => tracing::warn!(%error, "old rows cannot be cleared away"),
    }
    parts.sessions.registry.prune(now);
    measure(parts, now).await;
}

/// Adds entries written by versions without a hash chain to the chain, and measures the sizes.
async fn chain_audit(parts: &Arc<Parts>) {
    let (audit, now) = (parts.store.audit(), parts.clock.now());
    match audit.adopt(now).await {
        Ok(0) => {}
        Ok(adopted) => tracing::warn!(
            adopted,
            "entries without a place in the audit log's chain have joined it: an earlier version of \
             Portico runs on the same store, or something else writes to it"
        ),
        Err(error) => tracing::warn!(%error, "the audit log's chain cannot be kept"),
    }
    if let Ok(size) = audit.size().await {
        metrics::audit_log(size, parts.audit_retention_days, now);
    }
}

/// Deletes entries that are older than `gateway.audit.retention_days`.
async fn trim_audit(parts: &Arc<Parts>) {
    let days = parts.audit_retention_days;
    if days == 0 {
        return;
    }
    let kept = SignedDuration::from_hours(24 * i64::from(days));
    let now = parts.clock.now();
    let Ok(before) = now.checked_sub(kept) else {
        // longer than the range of timestamps
        return;
    };
    match parts.store.audit().trim(before, now).await {
        Ok(0) => {}
        Ok(deleted) => tracing::info!(deleted, days, "old entries of the audit log were deleted"),
        Err(error) => tracing::warn!(%error, "old entries of the audit log cannot be deleted"),
    }
}

async fn measure(parts: &Arc<Parts>, now: Timestamp) {
    if let Ok(counts) = parts.store.sessions().count_by_kind(now).await {
        metrics::live_sessions(&counts);
    }
    if let Ok(count) = parts.store.keystone_tokens().count_unfinished(now).await {
        metrics::pending_revocations(count);
    }
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
