//! `GET /oauth2/sessions`: lists the user's own sessions; with `?user=`, for administrators, those
//! of another user.
use std::sync::Arc;

use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use jiff::Timestamp;
use portico_domain::identity::User;
use portico_store::{Outcome, SessionCredential, StoreError};
use secrecy::ExposeSecret as _;

use super::{
    end::Ending,
    page::{Search, Sessions, Whose, search},
};
use crate::{
    account::Account,
    audit::Event,
    authentication::extract::SignedIn,
    http::{forms::Fields, interrupt::Interrupt},
    request_context::Context,
    sessions::live::Caller,
};

pub(crate) const PATH: &str = "/oauth2/sessions";
const MAX_SEARCH_CHARS: usize = 255;

pub(crate) async fn get(
    State(account): State<Arc<Account>>,
    Extension(context): Extension<Context>,
    SignedIn(caller): SignedIn,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Interrupt> {
    let query = Fields::of_query(&uri)?;
    let typed: String = query
        .get("user")
        .trim()
        .chars()
        .take(MAX_SEARCH_CHARS)
        .collect();
    if typed.is_empty() {
        return account.own_sessions(&context, &caller, None).await;
    }
    account.admins_only(&context, &caller, &typed).await?;
    match account.users_like(&typed).await?.as_slice() {
        [user] => account.sessions_of(&context, &caller, user, None).await,
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

impl Account {
    /// Returns the page with the caller's own sessions, and with what has just been ended.
    pub(super) async fn own_sessions(
        &self,
        context: &Context,
        caller: &Caller,
        ending: Option<Ending>,
    ) -> Result<Response, Interrupt> {
        let user = &caller.session.user;
        // the list of own sessions does not depend on whether Keystone responds
        let may_search = self.is_admin(caller).await.unwrap_or(false);
        let whose = Whose::Own { may_search };
        self.sessions_page(context, caller, user, whose, ending)
            .await
    }

    /// Returns the page with another user's sessions, for an administrator.
    pub(super) async fn sessions_of(
        &self,
        context: &Context,
        caller: &Caller,
        user: &User,
        ending: Option<Ending>,
    ) -> Result<Response, Interrupt> {
        if ending.is_none() {
            let event = Event::new("session.list", Outcome::Succeeded)
                .session(&caller.session)
                .target(&user.id)
                .subject(Some(user));
            self.audit.record(context, event).await;
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
    ) -> Result<Response, Interrupt> {
        let now = self.clock.now();
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

    /// Returns the credentials of ended sessions that are still listed at Keystone.
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

    /// Returns the users that match a search: only one if the ID matches.
    async fn users_like(&self, typed: &str) -> Result<Vec<User>, Interrupt> {
        let sessions = self.store.sessions();
        let mut users = sessions.users_matching(typed, self.clock.now()).await?;
        if let Some(exact) = users.iter().position(|user| user.id == typed) {
            users = vec![users.swap_remove(exact)];
        }
        Ok(users)
    }
}
