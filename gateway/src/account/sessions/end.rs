//! `/oauth2/sessions/end`: ends one session, all others, or every one of a user.
use std::{collections::HashSet, sync::Arc};

use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use futures::{StreamExt as _, stream};
use portico_domain::identity::User;
use portico_store::{EndReason, Outcome, Session, SessionKind, StoreError};
use secrecy::ExposeSecret as _;
use uuid::Uuid;

use super::page::EndSessionsConfirmation;
use crate::{
    account::Account,
    audit::Event,
    authentication::extract::{SignedIn, SignedInForm},
    http::{error_response::Problem, forms::Fields, interrupt::Interrupt, redirect::see_other},
    request_context::Context,
    sessions::{end::Ended, live::Caller},
};

const MAX_CONCURRENT_ENDS: usize = 4;

/// What has just been ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ending {
    pub sessions: usize,
    pub tokens: usize,
}

/// Whose sessions a request is about, and by which right.
struct Subject {
    user: User,
    by_admin: bool,
}

/// `GET`: asks for confirmation before several sessions end.
pub(crate) async fn ask(
    State(account): State<Arc<Account>>,
    Extension(context): Extension<Context>,
    SignedIn(caller): SignedIn,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Interrupt> {
    let query = Fields::of_query(&uri)?;
    let subject = account
        .subject(&context, &caller, query.optional("user"))
        .await?;
    let spared = if subject.by_admin {
        None
    } else {
        Some(&caller)
    };
    let rows = account.rows(&subject.user, spared).await?;
    let page = EndSessionsConfirmation {
        user: &subject.user,
        by_admin: subject.by_admin,
        sessions: rows.iter().filter(|row| !row.current).count(),
        csrf: caller.session.csrf.expose_secret(),
    };
    Ok(page.page().into_response())
}

pub(crate) async fn post(
    State(account): State<Arc<Account>>,
    Extension(context): Extension<Context>,
    SignedInForm { caller, fields }: SignedInForm,
) -> Result<Response, Interrupt> {
    let subject = account
        .subject(&context, &caller, fields.optional("user"))
        .await?;
    let live = account.endable(&subject.user).await?;
    let chosen: Vec<Session> = match (fields.optional("session"), fields.get("which")) {
        (Some(id), "") => {
            let id = Uuid::parse_str(id)
                .map_err(|_| Problem::bad_request("This is not a session ID."))?;
            if id == caller.session.id {
                // the sign-out page asks for confirmation, and shows what has ended with the
                // session
                return Ok(see_other("/oauth2/sign_out"));
            }
            live.into_iter()
                .filter(|session| session.id == id)
                .collect()
        }
        (None, "others") if !subject.by_admin => live
            .into_iter()
            .filter(|session| session.id != caller.session.id)
            .collect(),
        (None, "all") if subject.by_admin => live,
        _ => return Err(Problem::bad_request("Name the session to end.").into()),
    };
    let ending = account
        .end_chosen(&context, &caller, &subject, chosen)
        .await?;
    if subject.by_admin {
        return account
            .sessions_of(&context, &caller, &subject.user, Some(ending))
            .await;
    }
    account.own_sessions(&context, &caller, Some(ending)).await
}

impl Account {
    async fn subject(
        &self,
        context: &Context,
        caller: &Caller,
        user: Option<&str>,
    ) -> Result<Subject, Interrupt> {
        let Some(id) = user else {
            return Ok(Subject {
                user: caller.session.user.clone(),
                by_admin: false,
            });
        };
        self.admins_only(context, caller, id).await?;
        let sessions = self.store.sessions();
        let users = sessions.users_matching(id, self.clock.now()).await?;
        let user = users.into_iter().find(|user| user.id == id);
        let user = user.ok_or_else(|| {
            Problem::downstream(
                http::StatusCode::NOT_FOUND,
                "no_sessions",
                "There is no such session",
                "No user with this ID is signed in any more.",
            )
            .leads_to("Sessions", super::list::PATH)
        })?;
        Ok(Subject {
            user,
            by_admin: true,
        })
    }

    /// Returns the sessions that can be ended by themselves: those on app hosts end with their
    /// browser's.
    async fn endable(&self, user: &User) -> Result<Vec<Session>, Interrupt> {
        let sessions = self.store.sessions();
        let mut live = sessions.list_of_user(&user.id, self.clock.now()).await?;
        live.retain(|session| session.kind != SessionKind::App);
        Ok(live)
    }

    async fn end_chosen(
        &self,
        context: &Context,
        caller: &Caller,
        subject: &Subject,
        chosen: Vec<Session>,
    ) -> Result<Ending, Interrupt> {
        let reason = if subject.by_admin {
            EndReason::EndedByAdministrator
        } else {
            EndReason::Revoked
        };
        // a browser's command lines end with it
        let ids: HashSet<Uuid> = chosen.iter().map(|session| session.id).collect();
        let sessions = chosen.len();
        let alone = chosen
            .into_iter()
            .filter(|session| !session.parent.is_some_and(|parent| ids.contains(&parent)));
        let ended: Vec<Result<Ended, StoreError>> = stream::iter(alone)
            .map(|session| async move {
                let ended = self.sessions.end_session(session.id, reason).await?;
                self.record_end(context, caller, subject, &session, &ended)
                    .await;
                Ok(ended)
            })
            .buffer_unordered(MAX_CONCURRENT_ENDS)
            .collect()
            .await;
        let mut tokens = 0;
        for ended in ended {
            tokens += ended?.tokens;
        }
        Ok(Ending { sessions, tokens })
    }

    async fn record_end(
        &self,
        context: &Context,
        caller: &Caller,
        subject: &Subject,
        session: &Session,
        ended: &Ended,
    ) {
        let by = if subject.by_admin {
            "by an administrator"
        } else {
            "by its user"
        };
        let reason = format!(
            "{by}: {} tokens revoked, {} pending",
            ended.tokens, ended.pending
        );
        let target = session.id.to_string();
        let event = Event::new("session.revoke", Outcome::Succeeded)
            .session(&caller.session)
            .target(&target)
            .subject(Some(&session.user))
            .reason(&reason);
        self.audit.record(context, event).await;
    }
}
