//! The enrolment of clusters by the command line.
use super::{admit, read, refused, shown};
use crate::{
    caller::Caller,
    service::{
        Services,
        lifecycle::{cloud_enrol, cloud_enrolment, remove_cloud_record},
    },
};
use axum::{
    extract::{Path, Request, State},
    response::Response,
};
use std::sync::Arc;
use uuid::Uuid;

/// Returns whether a managed cluster can be used through Portico.
pub async fn enrolment(
    State(services): State<Arc<Services>>,
    Path((_, cluster)): Path<(String, Uuid)>,
    caller: Caller,
    request: Request,
) -> Response {
    match admit(&services.budgets, caller.session_id(), request.headers()) {
        Ok(_share) => shown(cloud_enrolment(&services, &caller, cluster).await),
        Err(refusal) => refused(&refusal),
    }
}

/// Enrols a managed cluster, so that it can be used through Portico.
pub async fn enrol(
    State(services): State<Arc<Services>>,
    Path((_, cluster)): Path<(String, Uuid)>,
    caller: Caller,
    request: Request,
) -> Response {
    let admitted = admit(&services.budgets, caller.session_id(), request.headers());
    let _share = match admitted {
        Ok(share) => share,
        Err(refusal) => return refused(&refusal),
    };
    match read(&caller, request).await {
        Ok(request) => shown(cloud_enrol(&services, &caller, cluster, &request).await),
        Err(refusal) => refused(&refusal),
    }
}

/// Removes the record of an enrolled cluster that Magnum no longer has.
pub async fn remove_record(
    State(services): State<Arc<Services>>,
    Path((_, cluster)): Path<(String, Uuid)>,
    caller: Caller,
    request: Request,
) -> Response {
    match admit(&services.budgets, caller.session_id(), request.headers()) {
        Ok(_share) => shown(remove_cloud_record(&services, &caller, cluster).await),
        Err(refusal) => refused(&refusal),
    }
}
