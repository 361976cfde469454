//! Notifies a page when its object changes or is deleted.
use super::outbox::{Gone, Outbox};
use crate::{
    caller::Caller,
    kube::{
        Api, KubeError,
        listing::{self, Selection},
        objects, watch,
    },
    service::{Services, error::ServiceError},
};
use futures::StreamExt;
use portico_domain::{panel::ObjectRef, stream::Message};
use std::{pin::pin, sync::Arc, time::Duration};
use uuid::Uuid;

/// Changes within this time are sent as one.
const DEBOUNCE_DELAY: Duration = Duration::from_millis(300);
/// How often the object is read if watching it is not permitted.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The subscription ends after this many failures in a row.
const MAX_FAILURES: u32 = 12;

/// Follows one object until the browser disconnects or the user may not read it any more.
pub async fn follow(
    services: Arc<Services>,
    caller: Caller,
    cluster: Uuid,
    object: ObjectRef,
    id: u32,
    outbox: Outbox,
) -> Result<(), Gone> {
    let mut failures = 0;
    loop {
        let round = match services.api(&caller, cluster).await {
            Ok((api, _)) => round(&api, &object, id, &outbox).await?,
            Err(error) => Err(error),
        };
        let ended = |error: ServiceError, retry: bool| Message::Ended {
            id,
            reason: error.message,
            missing: error.missing,
            retry,
        };
        match round {
            Ok(()) => failures = 0,
            Err(error) if error.kind == app::error::UiErrorKind::NotPermitted => {
                return outbox.send(ended(error, false)).await;
            }
            Err(error) => {
                failures += 1;
                if failures > MAX_FAILURES {
                    return outbox.send(ended(error, true)).await;
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }
}

/// Runs one watch, which ends within a minute; or one wait if watching is not allowed.
async fn round(
    api: &Api,
    object: &ObjectRef,
    id: u32,
    outbox: &Outbox,
) -> Result<Result<(), ServiceError>, Gone> {
    let selection = Selection {
        fields: format!("metadata.name={}", object.name),
        ..Selection::default()
    };
    let namespace = object.namespace.as_deref();
    let start = listing::list_one(api, &object.resource, namespace, &selection).await;
    let part = match start {
        Ok(part) => part,
        Err(KubeError::Refused(_)) => return poll(api, object, id, outbox).await,
        Err(error) => return Ok(Err(error.into())),
    };
    if part.rows.is_empty() {
        outbox.send(Message::Gone { id }).await?;
    }
    let watched = watch::watch(
        api,
        &object.resource,
        namespace,
        &selection,
        &part.resource_version,
        part.columns,
    )
    .await;
    let changes = match watched {
        Ok(changes) => changes,
        Err(KubeError::Refused(_)) => return poll(api, object, id, outbox).await,
        Err(error) => return Ok(Err(error.into())),
    };
    let mut changes = pin!(changes);
    while let Some(change) = changes.next().await {
        match change {
            Ok((watch::Change::Upsert(_), _)) => {
                tokio::time::sleep(DEBOUNCE_DELAY).await;
                outbox.send(Message::Changed { id }).await?;
            }
            Ok((watch::Change::Remove(_), _)) => outbox.send(Message::Gone { id }).await?,
            Ok((watch::Change::Position, _)) | Err(KubeError::Expired) => {}
            Err(error) => return Ok(Err(error.into())),
        }
    }
    Ok(Ok(()))
}

async fn poll(
    api: &Api,
    object: &ObjectRef,
    id: u32,
    outbox: &Outbox,
) -> Result<Result<(), ServiceError>, Gone> {
    let version = |value: &serde_json::Value| {
        value
            .pointer("/metadata/resourceVersion")
            .and_then(|version| version.as_str())
            .map(str::to_owned)
    };
    let before = match objects::get(api, object).await {
        Ok(value) => version(&value),
        Err(error) => return Ok(Err(error.into())),
    };
    tokio::time::sleep(POLL_INTERVAL).await;
    match objects::get(api, object).await {
        Ok(value) if version(&value) == before => {}
        Ok(_) => outbox.send(Message::Changed { id }).await?,
        Err(KubeError::NotFound(_)) => outbox.send(Message::Gone { id }).await?,
        Err(error) => return Ok(Err(error.into())),
    }
    Ok(Ok(()))
}
