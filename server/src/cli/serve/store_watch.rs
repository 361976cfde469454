//! A watch on the store, for `/ready` and for the log: whether it responds and is still the one
//! that was opened.
//!
//! If a file is deleted, or Redis loses its data, statements do not fail: they continue on data
//! that is about to be lost or has never existed. So the store is checked every few seconds, and
//! each change is logged once with the next step.
use super::Context;
use portico_runtime::admin::Weight;
use portico_store::{Store, StoreCause};
use std::time::Duration;

const CHECK_INTERVAL: Duration = Duration::from_secs(5);

pub(super) fn follow(context: &Context<'_>, store: Store) {
    let watched = store.clone();
    context.readiness.add("store", Weight::Required, move || {
        let store = store.clone();
        async move {
            let answer = store.ping().await;
            answer.map_err(|error| format!("{error}; {}", error.next_step()))
        }
    });
    context.lifecycle.spawn_background(async move {
        let mut failing: Option<StoreCause> = None;
        loop {
            match watched.ping().await {
                Ok(()) => {
                    if failing.take().is_some() {
                        tracing::info!("the store answers again");
                    }
                }
                Err(error) => {
                    let cause = error.cause();
                    if failing.replace(cause) != Some(cause) {
                        let next_step = error.next_step();
                        tracing::error!(%error, next_step, "the store is not usable, not ready");
                    }
                }
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    });
}
