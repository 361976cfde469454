//! Cluster tokens: the Keystone token of a project, sealed to one cluster.
use std::sync::Arc;

use http::StatusCode;
use portico_assertion::{SealedClusterToken, cluster_token};
use portico_clock::Clock;
use portico_domain::identity::Project;
use portico_store::{Outcome, SessionKind};

use super::{Cluster, Clusters};
use crate::{
    audit::{AuditLog, Event},
    http::error_response::Problem,
    request_context::Context,
    sessions::{
        Sessions,
        keystone_tokens::{OwnToken, TokenError, bound_to},
        live::{Caller, ClusterTokenKey},
    },
};

/// Issues cluster tokens.
#[derive(Debug)]
pub(crate) struct ClusterTokens {
    pub clock: Clock,
    pub clusters: Arc<Clusters>,
    pub sessions: Arc<Sessions>,
    pub audit: AuditLog,
}

impl ClusterTokens {
    /// Returns the caller's token for a cluster and one project: the same one until two thirds of
    /// its lifetime have passed.
    pub async fn cluster_token(
        &self,
        context: &Context,
        caller: &Caller,
        cluster: &Cluster,
        project: &Project,
    ) -> Result<SealedClusterToken, Problem> {
        let now = self.clock.now();
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
            // users choose the names of enrolled clusters
            .cluster(cluster.record.id)
            .target(&cluster.record.name);
        self.audit.record(context, event).await;
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
            return self.sessions.own_token(caller, project).await;
        }
        let token = self.sessions.project_token(&caller.live, project).await?;
        Ok(token.map(|token| OwnToken {
            token: token.token.clone(),
            expires_at: token.expires_at,
        }))
    }
}

pub(crate) fn no_such_cluster() -> Problem {
    Problem::downstream(
        StatusCode::NOT_FOUND,
        "unknown_cluster",
        "No such cluster",
        "None of your projects has a cluster with this ID.",
    )
}
