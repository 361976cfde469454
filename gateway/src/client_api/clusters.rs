//! `GET /api/v1/clusters` and `POST /api/v1/clusters/{id}/token`: for command lines only.
use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{FromRef, FromRequestParts, Path, State},
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::request::Parts;
use portico_assertion::{SealedClusterToken, keys::PublishedKey};
use portico_domain::identity::{Identity, Project};
use portico_store::Outcome;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tokio::time::Instant;
use uuid::Uuid;

use super::{ClientApi, bearer::CommandLineCaller, direct};
use crate::{
    audit::Event,
    authentication::extract,
    clusters::{Cluster, project_at, tokens::no_such_cluster},
    http::{interrupt::Interrupt, security_headers::harden},
    metrics::{self, TokenOperation},
    request_context::Context,
    sessions::live::Caller,
};

/// Who lists clusters: a command line's session, or a client with a Keystone token (`X-Auth-Token`,
/// as for every OpenStack service). Others get 401.
pub(crate) enum ListCaller {
    CommandLine(Caller),
    Keystone(Box<Identity>),
}

impl<S> FromRequestParts<S> for ListCaller
where
    S: Send + Sync,
    Arc<ClientApi>: FromRef<S>,
{
    type Rejection = Interrupt;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Interrupt> {
        if let Some(token) = direct::keystone_token(&parts.headers) {
            let client_api: Arc<ClientApi> = Arc::from_ref(state);
            let context = extract::context(parts)?;
            let identity = client_api.keystone_identity(&context, token).await?;
            return Ok(Self::Keystone(Box::new(identity)));
        }
        let CommandLineCaller(caller) = CommandLineCaller::from_request_parts(parts, state).await?;
        Ok(Self::CommandLine(caller))
    }
}

/// Returns the clusters of the caller's projects.
pub(crate) async fn list(State(client_api): State<Arc<ClientApi>>, caller: ListCaller) -> Response {
    let snapshot = client_api.clusters.snapshot();
    let all = snapshot.all().iter();
    let clusters: Vec<_> = match caller {
        ListCaller::Keystone(identity) => {
            let accepting = |cluster: &&Arc<Cluster>| cluster.record.accepts(&identity).is_ok();
            let project = identity.project.as_ref();
            let accepting = all.filter(accepting);
            accepting.map(|cluster| entry(cluster, project)).collect()
        }
        ListCaller::CommandLine(caller) => {
            let project = |cluster: &Cluster| project_at(cluster, &caller.live);
            all.filter_map(|cluster| Some(entry(cluster, Some(&project(cluster)?))))
                .collect()
        }
    };
    let mut answer = Json(json!({ "clusters": clusters })).into_response();
    harden(answer.headers_mut());
    answer
}

fn entry(cluster: &Cluster, project: Option<&Project>) -> Value {
    json!({
        "id": cluster.record.id,
        "name": cluster.record.name,
        "api_url": cluster.record.api_url,
        "ca_data": cluster.ca.as_deref().map(|pem| STANDARD.encode(pem)),
        "project": project,
        "sealing_key": PublishedKey::new(&cluster.sealing_key),
    })
}

/// Issues a token for one cluster: the Keystone token of the cluster's project, sealed.
pub(crate) async fn token(
    State(client_api): State<Arc<ClientApi>>,
    Extension(context): Extension<Context>,
    Path(id): Path<String>,
    CommandLineCaller(caller): CommandLineCaller,
) -> Result<Response, Interrupt> {
    let known = id.parse::<Uuid>().ok().and_then(|id| {
        let cluster = client_api.clusters.find(id)?;
        let project = project_at(&cluster, &caller.live)?;
        Some((cluster, project))
    });
    // unknown clusters and those of other projects look alike
    let Some((cluster, project)) = known else {
        let event = Event::new("cluster.token", Outcome::Denied)
            .session(&caller.session)
            .target(&id)
            .reason("no such cluster in the user's projects");
        client_api.audit.record(&context, event).await;
        return Err(no_such_cluster().into());
    };
    let started = Instant::now();
    let sealed = client_api
        .cluster_tokens
        .cluster_token(&context, &caller, &cluster, &project)
        .await
        .map_err(Interrupt::from);
    metrics::token(TokenOperation::Cluster, outcome(&sealed), started);
    let sealed = sealed?;
    let mut answer = Json(json!({
        "token": sealed.token.expose_secret(),
        "expires_at": sealed.expires_at,
        "cluster": cluster.record.id,
        "project": project,
    }))
    .into_response();
    harden(answer.headers_mut());
    Ok(answer)
}

fn outcome(sealed: &Result<SealedClusterToken, Interrupt>) -> metrics::Outcome {
    match sealed {
        Ok(_) => metrics::Outcome::Succeeded,
        Err(Interrupt::Problem(problem)) if problem.status.is_server_error() => {
            metrics::Outcome::Failed
        }
        Err(_) => metrics::Outcome::Refused,
    }
}
