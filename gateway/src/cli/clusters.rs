//! `GET /api/v1/clusters` and `POST /api/v1/clusters/{id}/token`: for command lines only.
use std::time::Instant;

use axum::{
    Extension, Json,
    extract::{Path, State},
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use portico_assertion::{SealedClusterToken, cluster_token, keys::PublishedKey};
use portico_domain::identity::Project;
use portico_store::{Outcome, SessionKind};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use uuid::Uuid;

use super::direct;
use crate::{
    audit::Event,
    authentication::Interrupt,
    error_response::Problem,
    metrics::{self, TokenOperation},
    pages::layout::harden,
    session::{
        live::{Caller, ClusterTokenKey, Live},
        tokens::{OwnToken, TokenError, bound_to},
    },
    state::{Cluster, Context, Gateway, Shared},
};

/// Returns the clusters of the caller's projects. The caller is a command line's session, or a
/// client with a Keystone token (`X-Auth-Token`, as for every OpenStack service).
pub(crate) async fn list(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let clusters: Vec<_> = if let Some(token) = direct::keystone_token(&headers) {
        let identity = gateway.keystone_identity(&context, token).await?;
        let accepting = |cluster: &&Cluster| cluster.record.accepts(&identity).is_ok();
        let project = identity.project.as_ref();
        let clusters = gateway.clusters.iter().filter(accepting);
        clusters.map(|cluster| entry(cluster, project)).collect()
    } else {
        let caller = gateway.command_line(&context, &headers).await?;
        let project = |cluster| project_at(cluster, &caller.live);
        let clusters = gateway.clusters.iter();
        clusters
            .filter_map(|cluster| Some(entry(cluster, Some(&project(cluster)?))))
            .collect()
    };
    let mut answer = Json(json!({ "clusters": clusters })).into_response();
    harden(answer.headers_mut());
    Ok(answer)
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
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Interrupt> {
    let caller = gateway.command_line(&context, &headers).await?;
    let known = id.parse::<Uuid>().ok().and_then(|id| {
        let cluster = gateway.clusters.iter().find(|c| c.record.id == id)?;
        Some((cluster, project_at(cluster, &caller.live)?))
    });
    // unknown clusters and those of other projects look alike
    let Some((cluster, project)) = known else {
        let event = Event::new("cluster.token", Outcome::Denied)
            .session(&caller.session)
            .target(&id)
            .reason("no such cluster in the user's projects");
        gateway.audit(&context, event).await;
        return Err(no_such_cluster().into());
    };
    let started = Instant::now();
    let sealed = gateway
        .cluster_token(&context, &caller, cluster, &project)
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

impl Gateway {
    /// Returns the caller's token for a cluster and one project: the same one until two thirds of
    /// its lifetime have passed.
    pub async fn cluster_token(
        &self,
        context: &Context,
        caller: &Caller,
        cluster: &Cluster,
        project: &Project,
    ) -> Result<SealedClusterToken, Problem> {
        let now = Timestamp::now();
        let key = ClusterTokenKey {
            session: caller.session.id,
            cluster: cluster.record.id,
            project: project.id.clone(),
        };
        let kept = caller.live.cluster_tokens.lock().get(&key).cloned();
        if let Some(kept) = kept
            && kept.expires_at.as_second() - now.as_second()
                > cluster_token::MAX_LIFETIME_SECONDS / 3
        {
            return Ok(kept);
        }
        let Some(token) = self.token_to_seal(caller, &project.id).await? else {
            return Err(no_such_cluster());
        };
        let sealed = cluster_token::seal(
            &cluster.sealing_key,
            cluster.record.id,
            &token.token,
            token.expires_at,
            now,
        )
        .map_err(|error| {
            tracing::error!(%error, cluster_id = %cluster.record.id, "a cluster token could not be sealed");
            Problem::internal()
        })?;
        let event = Event::new("cluster.token", Outcome::Succeeded)
            .session(&caller.session)
            .project(Some(&project.id))
            .target(&cluster.record.name);
        self.audit(context, event).await;
        caller
            .live
            .cluster_tokens
            .lock()
            .insert(key, sealed.clone());
        Ok(sealed)
    }

    /// Returns a Keystone token that ends with this session alone, where one can be issued. A
    /// sign-in whose token cannot be exchanged, and a program's bearer token, have no other token
    /// than their own.
    async fn token_to_seal(
        &self,
        caller: &Caller,
        project: &str,
    ) -> Result<Option<OwnToken>, TokenError> {
        let session = &caller.session;
        let own = match session.kind {
            SessionKind::CommandLine => true,
            SessionKind::App => session.parent.is_some() && bound_to(&caller.live.root()).is_none(),
            SessionKind::Browser => false,
        };
        if own {
            return self.own_token(caller, project).await;
        }
        let token = self.project_token(&caller.live, project).await?;
        Ok(token.map(|token| OwnToken {
            token: token.token.clone(),
            expires_at: token.expires_at,
        }))
    }
}

/// Returns the project with which the session's user accesses the cluster: the last one used where
/// the cluster accepts several.
pub(crate) fn project_at(cluster: &Cluster, live: &Live) -> Option<Project> {
    let root = live.root();
    let accepted = |project: &&Project| cluster.record.accepts_project(project);
    let last = root.last_project.as_deref();
    root.projects
        .iter()
        .filter(accepted)
        .find(|project| Some(project.id.as_str()) == last)
        .or_else(|| root.projects.iter().find(accepted))
        .cloned()
}

pub(super) fn no_such_cluster() -> Problem {
    Problem::downstream(
        StatusCode::NOT_FOUND,
        "unknown_cluster",
        "No such cluster",
        "None of your projects has a cluster with this ID.",
    )
}
