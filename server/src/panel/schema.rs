//! The schemas that the editor asks for while the user writes.
use crate::{
    caller::Caller,
    kube::{discovery, schemas},
    service::{Services, error::ServiceError},
};
use app::error::{UiError, UiErrorKind};
use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// A kind of the API; the empty group is the core group.
#[derive(Debug, Deserialize, Serialize)]
pub struct Kind {
    #[serde(default)]
    group: String,
    version: String,
    kind: String,
}

/// Returns the schema of a kind, as the viewer's own token reads it.
pub async fn of_kind(
    State(services): State<Arc<Services>>,
    Path((_, cluster)): Path<(String, Uuid)>,
    Query(kind): Query<Kind>,
    caller: Caller,
) -> Response {
    let answer = async {
        let (api, _) = services.api(&caller, cluster).await?;
        let schema = schemas::of_kind(&api, &kind.group, &kind.version, &kind.kind).await;
        Ok::<_, ServiceError>(schema?)
    };
    respond(answer.await, &caller)
}

/// Returns the kinds of a cluster that can be created.
pub async fn kinds(
    State(services): State<Arc<Services>>,
    Path((_, cluster)): Path<(String, Uuid)>,
    caller: Caller,
) -> Response {
    let answer = async {
        let (api, _) = services.api(&caller, cluster).await?;
        let catalog = discovery::catalog(&api).await?;
        let kinds = catalog.with_verb("create").map(|kind| Kind {
            group: kind.group.clone(),
            version: kind.version.clone(),
            kind: kind.kind.clone(),
        });
        Ok::<_, ServiceError>(kinds.collect::<Vec<_>>())
    };
    respond(answer.await, &caller)
}

fn respond<T: Serialize>(answer: Result<T, ServiceError>, caller: &Caller) -> Response {
    match answer {
        Ok(body) => Json(body).into_response(),
        Err(error) => {
            let error: UiError = error.into_ui(caller.request_id());
            let status = match error.kind {
                UiErrorKind::NotFound => StatusCode::NOT_FOUND,
                UiErrorKind::NotPermitted => StatusCode::FORBIDDEN,
                UiErrorKind::Invalid => StatusCode::BAD_REQUEST,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            };
            (status, Json(error)).into_response()
        }
    }
}
