//! The watch of one place of a live list, a namespace or the whole cluster.
use crate::{
    caller::Caller,
    kube::{KubeError, watch},
    service::{Services, lists},
};
use futures::StreamExt;
use portico_domain::panel::{Column, ListQuery};
use std::{pin::pin, sync::Arc};
use tokio::sync::mpsc;
use uuid::Uuid;

/// A report of the watcher of one place.
pub enum Report {
    Change(watch::Change),
    Expired,
    Failed(KubeError),
}

/// One place that is watched.
pub struct Place {
    pub services: Arc<Services>,
    pub caller: Caller,
    pub cluster: Uuid,
    pub query: ListQuery,
    pub namespace: Option<String>,
    pub columns: Vec<Column>,
}

/// Watches one place; each watch ends within a minute and the next checks the rights again.
pub async fn watch_place(place: Place, mut position: String, reports: mpsc::Sender<Report>) {
    let selection = lists::selection(&place.query);
    let failed = |error: KubeError| match error {
        KubeError::Expired => Report::Expired,
        other => Report::Failed(other),
    };
    loop {
        let api = match place.services.api(&place.caller, place.cluster).await {
            Ok((api, _)) => api,
            Err(error) => {
                let error = KubeError::Unreachable(error.message);
                let _ = reports.send(Report::Failed(error)).await;
                return;
            }
        };
        let opened = watch::watch(
            &api,
            &place.query.resource,
            place.namespace.as_deref(),
            &selection,
            &position,
            place.columns.clone(),
        )
        .await;
        let changes = match opened {
            Ok(changes) => changes,
            Err(error) => {
                let _ = reports.send(failed(error)).await;
                return;
            }
        };
        let mut changes = pin!(changes);
        while let Some(change) = changes.next().await {
            let report = match change {
                Ok((change, after)) => {
                    position = after;
                    Report::Change(change)
                }
                Err(error) => failed(error),
            };
            let last = !matches!(report, Report::Change(_));
            if reports.send(report).await.is_err() || last {
                return;
            }
        }
    }
}
