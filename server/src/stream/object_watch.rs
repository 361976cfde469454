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
use serde_json::Value;
use std::{pin::pin, sync::Arc, time::Duration};
use uuid::Uuid;

/// Changes within this time are sent as one.
const DEBOUNCE_DELAY: Duration = Duration::from_millis(300);
/// How often the object is read if watching it is not permitted.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// The subscription ends after this many failures in a row.
const MAX_FAILURES: u32 = 12;

/// An object that a page shows.
pub struct Followed {
    pub cluster: Uuid,
    pub object: ObjectRef,
    /// The version on the page, if it has one. Changes are missed between reading the page and the first watch, and between two
    /// watches: each watch begins with a comparison.
    pub shown: Option<String>,
    /// The subscription's.
    pub id: u32,
    pub outbox: Outbox,
}

/// Stands in `shown` for an object that does not exist.
const NO_VERSION: &str = "";

/// Follows one object until the browser disconnects or the user may not read it any more.
pub async fn follow(
    services: Arc<Services>,
    caller: Caller,
    mut followed: Followed,
) -> Result<(), Gone> {
    let id = followed.id;
    let mut failures = 0;
    loop {
        let round = match services.api(&caller, followed.cluster).await {
            Ok((api, _)) => followed.round(&api).await?,
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
                return followed.outbox.send(ended(error, false)).await;
            }
            Err(error) => {
                failures += 1;
                if failures > MAX_FAILURES {
                    return followed.outbox.send(ended(error, true)).await;
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }
}

impl Followed {
    /// Runs one watch, which ends within a minute; or one wait if watching is not allowed.
    async fn round(&mut self, api: &Api) -> Result<Result<(), ServiceError>, Gone> {
        let selection = Selection {
            fields: format!("metadata.name={}", self.object.name),
            ..Selection::default()
        };
        let namespace = self.object.namespace.clone();
        let namespace = namespace.as_deref();
        let resource = self.object.resource.clone();
        let start = listing::list_one(api, &resource, namespace, &selection).await;
        let part = match start {
            Ok(part) => part,
            Err(KubeError::Refused(_)) => return self.poll(api).await,
            Err(error) => return Ok(Err(error.into())),
        };
        match part.rows.first() {
            Some(row) => self.compare(&row.row.resource_version).await?,
            None => self.report_gone().await?,
        }
        let watched = watch::watch(
            api,
            &resource,
            namespace,
            &selection,
            &part.resource_version,
            part.columns,
        )
        .await;
        let changes = match watched {
            Ok(changes) => changes,
            Err(KubeError::Refused(_)) => return self.poll(api).await,
            Err(error) => return Ok(Err(error.into())),
        };
        let mut changes = pin!(changes);
        while let Some(change) = changes.next().await {
            match change {
                Ok((watch::Change::Upsert(rows), _)) => {
                    tokio::time::sleep(DEBOUNCE_DELAY).await;
                    self.shown = rows.last().map(|row| row.row.resource_version.clone());
                    self.report_change().await?;
                }
                Ok((watch::Change::Remove(_), _)) => self.report_gone().await?,
                Ok((watch::Change::Position, _)) | Err(KubeError::Expired) => {}
                Err(error) => return Ok(Err(error.into())),
            }
        }
        Ok(Ok(()))
    }

    /// Reads the object, then waits until it is time to read it again.
    async fn poll(&mut self, api: &Api) -> Result<Result<(), ServiceError>, Gone> {
        match objects::get(api, &self.object).await {
            Ok(value) => {
                let version = value.pointer("/metadata/resourceVersion");
                let version = version.and_then(Value::as_str).unwrap_or(NO_VERSION);
                self.compare(version).await?;
            }
            Err(KubeError::NotFound(_)) => self.report_gone().await?,
            Err(error) => return Ok(Err(error.into())),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        Ok(Ok(()))
    }

    async fn compare(&mut self, version: &str) -> Result<(), Gone> {
        let before = self.shown.replace(version.to_owned());
        if before.is_some_and(|before| before != version) {
            self.report_change().await?;
        }
        Ok(())
    }

    async fn report_change(&self) -> Result<(), Gone> {
        self.outbox.send(Message::Changed { id: self.id }).await
    }

    async fn report_gone(&mut self) -> Result<(), Gone> {
        self.shown = Some(NO_VERSION.to_owned());
        self.outbox.send(Message::Gone { id: self.id }).await
    }
}
