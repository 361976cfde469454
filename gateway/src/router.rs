//! The routes of the main host and of the app hosts: a handler for each path of [`own_paths`].
use axum::{
    Router,
    response::IntoResponse,
    routing::{MethodRouter, any, get, post},
};

use crate::{
    audit_trail, cli,
    dispatch::Dispatcher,
    endpoints,
    error_response::Problem,
    forward_auth, handover, login,
    own_paths::{self, Endpoint, HostKind, OAUTH2},
    pages::assets,
    providers,
    proxy::routes,
    saved_form, sessions,
    state::Shared,
};

pub(crate) fn dispatcher(gateway: Shared) -> Dispatcher {
    let main = own_routes(HostKind::Main).fallback(routes::panel);
    let app = own_routes(HostKind::App).fallback(routes::app);
    Dispatcher {
        main: main.with_state(gateway.clone()),
        app: app.with_state(gateway.clone()),
        gateway,
    }
}

/// Returns the gateway's own routes on a kind of host. What is below `/oauth2` goes to nothing else.
fn own_routes(host: HostKind) -> Router<Shared> {
    let (mut oauth2, mut others) = (Router::new(), Router::new());
    for own in own_paths::of(host) {
        match own.pattern.strip_prefix(OAUTH2) {
            Some(pattern) => oauth2 = oauth2.route(pattern, handler(own.endpoint)),
            None => others = others.route(own.pattern, handler(own.endpoint)),
        }
    }
    let oauth2 = oauth2
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method);
    others
        .nest(OAUTH2, oauth2)
        .method_not_allowed_fallback(wrong_method)
}

fn handler(endpoint: Endpoint) -> MethodRouter<Shared> {
    match endpoint {
        Endpoint::Auth => any(forward_auth::auth::answer),
        Endpoint::AuthRedirect => any(forward_auth::redirect::answer),
        Endpoint::ExtAuthz | Endpoint::ExtAuthzPath => any(forward_auth::redirect::of_envoy),
        Endpoint::Static => get(assets::get),
        Endpoint::SignIn => get(login::sign_in::get).post(login::sign_in::post),
        Endpoint::SignInWithApplicationCredential => get(login::application_credential::get)
            .post(login::application_credential::application_credential),
        Endpoint::SignInWithToken => {
            get(login::application_credential::get).post(login::existing_token::token)
        }
        Endpoint::WebSso => post(login::websso::arrive),
        Endpoint::WebSsoStart => post(login::websso::start),
        Endpoint::WebSsoFinish => post(login::websso::finish),
        Endpoint::ProviderStart => get(providers::start::get),
        Endpoint::ProviderCallback => get(providers::callback::get),
        Endpoint::BackchannelLogout => post(providers::logout::post),
        Endpoint::SignedOut => get(login::sign_out::done),
        Endpoint::Totp => get(login::totp::get).post(login::totp::post),
        Endpoint::FailedAttempts => get(login::failed_attempts::get),
        Endpoint::Project => get(login::project::get).post(login::project::post),
        Endpoint::Reauthenticate => {
            get(login::reauthenticate::get).post(login::reauthenticate::post)
        }
        Endpoint::SignOut => get(login::sign_out::get).post(login::sign_out::post),
        Endpoint::Audit => get(audit_trail::get),
        Endpoint::Sessions => get(sessions::list::get),
        Endpoint::EndSessions => get(sessions::end::ask).post(sessions::end::post),
        Endpoint::SavedForm => get(saved_form::resume::get).post(saved_form::resume::send),
        Endpoint::DiscardSavedForm => post(saved_form::resume::discard),
        Endpoint::DemoPassword => get(login::demo::get),
        Endpoint::OfferHandover => get(handover::offer::get),
        Endpoint::Open => get(forward_auth::sign_in::open),
        Endpoint::UserInfo => get(endpoints::userinfo::get),
        Endpoint::Authorize => get(cli::authorize::get).post(cli::authorize::post),
        Endpoint::Device => get(cli::device::get).post(cli::device::start),
        Endpoint::DeviceDecision => post(cli::device::decide),
        Endpoint::Token => post(cli::token::post),
        Endpoint::Revoke => post(cli::revoke::post),
        Endpoint::Ping => get(endpoints::health::ping),
        Endpoint::Ready => get(endpoints::health::ready),
        Endpoint::Jwks => get(endpoints::well_known::jwks),
        Endpoint::ClusterKeys => get(endpoints::well_known::cluster_keys),
        Endpoint::WhoAmI => get(cli::whoami::get),
        Endpoint::Clusters => get(cli::clusters::list),
        Endpoint::ClusterToken => post(cli::clusters::token),
        Endpoint::SealingKey => get(cli::direct::sealing_key),
        Endpoint::AcceptHandover => post(handover::accept::post),
        Endpoint::AppSignIn | Endpoint::AppStart => get(forward_auth::sign_in::app_host),
        Endpoint::AppSignOut => get(login::sign_out::on_main_host),
    }
}

async fn nothing_here() -> impl IntoResponse {
    Problem::not_found()
}

async fn wrong_method() -> impl IntoResponse {
    Problem::method_not_allowed()
}
