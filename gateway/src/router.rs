//! The routes of the main host and of the app hosts: a handler for each path of [`own_paths`].
use std::sync::Arc;

use axum::{
    Router,
    response::IntoResponse,
    routing::{MethodRouter, any, get, post},
};

use crate::{
    account,
    apps::{
        forward_auth, handover,
        proxy::{cloud_api, routes},
        saved_form,
    },
    browser_state::{BrowserStates, with_browser_state},
    client_api,
    composition::{Handlers, Parts},
    dispatch::Dispatcher,
    endpoints,
    http::error_response::Problem,
    own_paths::{self, Endpoint, HostKind, OAUTH2},
    pages::assets,
    sign_in::{self, attempts, keystone, oidc},
};

pub(crate) fn dispatcher(parts: Arc<Parts>) -> Dispatcher {
    let states = &parts.handlers.browser_states;
    let main = own_routes(HostKind::Main, states).fallback(routes::panel);
    let app = own_routes(HostKind::App, states).fallback(routes::app);
    Dispatcher {
        main: main.with_state(parts.handlers.clone()),
        app: app.with_state(parts.handlers.clone()),
        parts,
    }
}

/// Returns the gateway's own routes on a kind of host. What is below `/oauth2` goes to nothing else.
fn own_routes(host: HostKind, states: &Arc<BrowserStates>) -> Router<Handlers> {
    let (mut oauth2, mut others) = (Router::new(), Router::new());
    for own in own_paths::of(host) {
        let handler = if own.endpoint.has_browser_state() {
            with_browser_state(handler(own.endpoint), states)
        } else {
            handler(own.endpoint)
        };
        match own.pattern.strip_prefix(OAUTH2) {
            Some(pattern) => oauth2 = oauth2.route(pattern, handler),
            None => others = others.route(own.pattern, handler),
        }
    }
    let oauth2 = oauth2
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method);
    others
        .nest(OAUTH2, oauth2)
        .method_not_allowed_fallback(wrong_method)
}

fn handler(endpoint: Endpoint) -> MethodRouter<Handlers> {
    match endpoint {
        Endpoint::Auth => any(forward_auth::auth::answer),
        Endpoint::AuthRedirect => any(forward_auth::redirect::answer),
        Endpoint::ExtAuthz | Endpoint::ExtAuthzPath => any(forward_auth::redirect::of_envoy),
        Endpoint::Static => get(assets::get),
        Endpoint::SignIn => get(keystone::password::get).post(keystone::password::post),
        Endpoint::SignInWithApplicationCredential => get(keystone::application_credential::get)
            .post(keystone::application_credential::application_credential),
        Endpoint::SignInWithToken => {
            get(keystone::application_credential::get).post(keystone::existing_token::token)
        }
        Endpoint::WebSso => post(keystone::websso::arrive),
        Endpoint::WebSsoStart => post(keystone::websso::start),
        Endpoint::WebSsoFinish => post(keystone::websso::finish),
        Endpoint::ProviderStart => get(oidc::start::get),
        Endpoint::ProviderCallback => get(oidc::callback::get),
        Endpoint::BackchannelLogout => post(oidc::backchannel_logout::post),
        Endpoint::SignedOut => get(sign_in::sign_out::done),
        Endpoint::Totp => get(keystone::totp::get).post(keystone::totp::post),
        Endpoint::FailedAttempts => get(attempts::failed_attempts::get),
        Endpoint::Project => get(sign_in::project::get).post(sign_in::project::post),
        Endpoint::Reauthenticate => {
            get(sign_in::reauthentication::get).post(sign_in::reauthentication::post)
        }
        Endpoint::SignOut => get(sign_in::sign_out::get).post(sign_in::sign_out::post),
        Endpoint::Audit => get(account::activity::get),
        Endpoint::Sessions => get(account::sessions::list::get),
        Endpoint::EndSessions => {
            get(account::sessions::end::ask).post(account::sessions::end::post)
        }
        Endpoint::SavedForm => get(saved_form::resume::get).post(saved_form::resume::send),
        Endpoint::DiscardSavedForm => post(saved_form::resume::discard),
        Endpoint::DemoPassword => get(sign_in::demo::get),
        Endpoint::OfferHandover => get(handover::offer::get),
        Endpoint::Open => get(forward_auth::sign_in::open),
        Endpoint::UserInfo => get(endpoints::userinfo::get),
        Endpoint::Authorize => get(client_api::authorize::get).post(client_api::authorize::post),
        Endpoint::Device => get(client_api::device::get).post(client_api::device::start),
        Endpoint::DeviceDecision => post(client_api::device::decide),
        Endpoint::Token => post(client_api::token::post),
        Endpoint::Revoke => post(client_api::revoke::post),
        Endpoint::Ping => get(endpoints::health::ping),
        Endpoint::Ready => get(endpoints::health::ready),
        Endpoint::Jwks => get(endpoints::well_known::jwks),
        Endpoint::ClusterKeys => get(endpoints::well_known::cluster_keys),
        Endpoint::ClusterList => get(endpoints::cluster_list::get),
        Endpoint::WhoAmI => get(client_api::whoami::get),
        Endpoint::Clusters => get(client_api::clusters::list),
        Endpoint::ClusterToken => post(client_api::clusters::token),
        Endpoint::SealingKey => get(client_api::direct::sealing_key),
        Endpoint::CloudApi => any(cloud_api::forward),
        Endpoint::AcceptHandover => post(handover::accept::post),
        Endpoint::AppSignIn | Endpoint::AppStart => get(forward_auth::sign_in::app_host),
        Endpoint::AppSignOut => get(sign_in::sign_out::on_main_host),
    }
}

async fn nothing_here() -> impl IntoResponse {
    Problem::not_found()
}

async fn wrong_method() -> impl IntoResponse {
    Problem::method_not_allowed()
}
