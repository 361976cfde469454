//! `GET /oauth2/sessions`: one's own sessions; with `?user=`, for administrators, somebody else's.
use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use http::HeaderMap;
use jiff::Timestamp;
use portico_domain::identity::User;
use portico_store::{Outcome, SessionCredential, StoreError};
use secrecy::ExposeSecret as _;

use super::end::Ending;
use crate::{
    audit::Event,
    forms::Fields,
    guard::Stop,
    pages::sessions::{Search, Sessions, Whose, search},
    session::live::Caller,
    state::{Context, Gateway, Shared},
};

pub(crate) const PATH: &str = "/oauth2/sessions";
const LONGEST_SEARCH: usize = 255;

pub(crate) async fn get(
    State(gateway): State<Shared>,
    Extension(context): Extension<Context>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
) -> Result<Response, Stop> {
    let caller = gateway.browser(&context, &headers, &uri).await?;
    let query = Fields::of_query(&uri)?;
    let typed: String = query
        .get("user")
        .trim()
        .chars()
        .take(LONGEST_SEARCH)
        .collect();
    if typed.is_empty() {
        return gateway.own_sessions(&context, &caller, None).await;
    }
    gateway.admins_only(&context, &caller, &typed).await?;
    match gateway.users_like(&typed).await?.as_slice() {
        [user] => gateway.sessions_of(&context, &caller, user, None).await,
        users => {
            let page = Search {
                typed: &typed,
                users,
                request_id: &context.request_id_text(),
            };
            Ok(search(&page).into_response())
        }
    }
}

impl Gateway {
    /// The caller's own list, with what has just been done to it.
    pub(super) async fn own_sessions(
        &self,
        context: &Context,
        caller: &Caller,
        ending: Option<Ending>,
    ) -> Result<Response, Stop> {
        let user = &caller.session.user;
        // somebody's own sessions do not depend on whether Keystone answers about roles
        let may_search = self.is_admin(caller).await.unwrap_or(false);
        let whose = Whose::Own { may_search };
        self.sessions_page(context, caller, user, whose, ending)
            .await
    }

    /// Somebody else's list, for an administrator.
    pub(super) async fn sessions_of(
        &self,
        context: &Context,
        caller: &Caller,
        user: &User,
        ending: Option<Ending>,
    ) -> Result<Response, Stop> {
        if ending.is_none() {
            let event = Event::new("session.list", Outcome::Succeeded)
                .session(&caller.session)
                .target(&user.id)
                .subject(Some(user));
            self.audit(context, event).await;
        }
        self.sessions_page(context, caller, user, Whose::Another, ending)
            .await
    }

    async fn sessions_page(
        &self,
        context: &Context,
        caller: &Caller,
        user: &User,
        whose: Whose,
        ending: Option<Ending>,
    ) -> Result<Response, Stop> {
        let now = Timestamp::now();
        let tokens = self.store.keystone_tokens();
        let page = Sessions {
            whose,
            user,
            rows: &self.rows(user, Some(caller)).await?,
            unfinished: tokens.unfinished_of_user(&user.id, now).await?,
            left_over: &self.left_over(user, now).await?,
            ending: ending.as_ref(),
            csrf: caller.session.csrf.expose_secret(),
            now,
            request_id: &context.request_id_text(),
        };
        Ok(page.page().into_response())
    }

    /// Credentials of ended sessions that somebody would still find in Keystone's list.
    async fn left_over(
        &self,
        user: &User,
        now: Timestamp,
    ) -> Result<Vec<SessionCredential>, StoreError> {
        let credentials = self.store.session_credentials();
        let mut left = credentials.left_of_user(&user.id).await?;
        left.retain(|credential| credential.expires_at > now);
        Ok(left)
    }

    /// The users that an administrator may mean: one where the ID fits.
    async fn users_like(&self, typed: &str) -> Result<Vec<User>, Stop> {
        let sessions = self.store.sessions();
        let mut users = sessions.users_matching(typed, Timestamp::now()).await?;
        if let Some(exact) = users.iter().position(|user| user.id == typed) {
            users = vec![users.swap_remove(exact)];
        }
        Ok(users)
    }
}
