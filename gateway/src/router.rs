//! The routes of the main host and of the app hosts.
use axum::{
    Router,
    response::IntoResponse,
    routing::{any, get, post},
};

use crate::{
    audit_trail, cli, dispatch::Dispatcher, endpoints, error_response::Problem, forward_auth,
    handover, login, pages::assets, providers, proxy::routes, saved_form, sessions, state::Shared,
};

pub(crate) fn dispatcher(gateway: Shared) -> Dispatcher {
    let main = main_host(&gateway);
    let app = app_host(&gateway);
    Dispatcher { gateway, main, app }
}

fn main_host(gateway: &Shared) -> Router {
    let oauth2 = questions()
        .route(
            "/sign_in",
            get(login::sign_in::get).post(login::sign_in::post),
        )
        .route(
            "/sign_in/application_credential",
            get(login::application_credential::get)
                .post(login::application_credential::application_credential),
        )
        .route(
            "/sign_in/token",
            get(login::application_credential::get).post(login::existing_token::token),
        )
        .route("/websso", post(login::websso::arrive))
        .route("/websso/start", post(login::websso::start))
        .route("/websso/finish", post(login::websso::finish))
        .route("/start", get(providers::start::get))
        .route("/callback/{provider}", get(providers::callback::get))
        .route("/backchannel_logout", post(providers::logout::post))
        .route("/signed_out", get(login::sign_out::done))
        .route("/totp", get(login::totp::get).post(login::totp::post))
        .route("/failed_attempts", get(login::failed_attempts::get))
        .route(
            "/project",
            get(login::project::get).post(login::project::post),
        )
        .route(
            "/reauthenticate",
            get(login::reauthenticate::get).post(login::reauthenticate::post),
        )
        .route(
            "/sign_out",
            get(login::sign_out::get).post(login::sign_out::post),
        )
        .route("/audit", get(audit_trail::get))
        .route("/sessions", get(sessions::list::get))
        .route(
            "/sessions/end",
            get(sessions::end::ask).post(sessions::end::post),
        )
        .route(
            "/kept",
            get(saved_form::resume::get).post(saved_form::resume::send),
        )
        .route("/kept/discard", post(saved_form::resume::discard))
        .route("/demo/password", get(login::demo::get))
        .route("/handover", get(handover::offer::get))
        .route("/open", get(forward_auth::sign_in::open))
        .route("/userinfo", get(endpoints::userinfo::get))
        .route(
            "/authorize",
            get(cli::authorize::get).post(cli::authorize::post),
        )
        .route("/device", get(cli::device::get).post(cli::device::start))
        .route("/device/decision", post(cli::device::decide))
        .route("/token", post(cli::token::post))
        .route("/revoke", post(cli::revoke::post))
        .route("/static/{file}", get(assets::get))
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method);
    Router::new()
        .nest("/oauth2", oauth2)
        .route("/ping", get(endpoints::health::ping))
        .route("/ready", get(endpoints::health::ready))
        .route("/.well-known/jwks.json", get(endpoints::well_known::jwks))
        .route(
            "/.well-known/portico-cluster-keys",
            get(endpoints::well_known::cluster_keys),
        )
        .route("/api/v1/whoami", get(cli::whoami::get))
        .route("/api/v1/clusters", get(cli::clusters::list))
        .route("/api/v1/clusters/{id}/token", post(cli::clusters::token))
        .route(
            "/api/v1/clusters/{id}/sealing-key",
            get(cli::direct::sealing_key),
        )
        .method_not_allowed_fallback(wrong_method)
        .fallback(routes::panel)
        .with_state(gateway.clone())
}

fn app_host(gateway: &Shared) -> Router {
    let oauth2 = questions()
        .route("/handover", post(handover::accept::post))
        .route("/sign_in", get(forward_auth::sign_in::app_host))
        .route("/start", get(forward_auth::sign_in::app_host))
        .route("/sign_out", get(login::sign_out::on_main_host))
        .route("/static/{file}", get(assets::get))
        .fallback(nothing_here)
        .method_not_allowed_fallback(wrong_method);
    Router::new()
        .nest("/oauth2", oauth2)
        .fallback(routes::app)
        .with_state(gateway.clone())
}

/// Returns the routes at which other proxies ask for a decision, on every host.
fn questions() -> Router<Shared> {
    Router::new()
        .route("/auth", any(forward_auth::auth::answer))
        .route("/auth/redirect", any(forward_auth::redirect::answer))
        .route("/ext_authz/", any(forward_auth::redirect::of_envoy))
        .route("/ext_authz/{*path}", any(forward_auth::redirect::of_envoy))
}

async fn nothing_here() -> impl IntoResponse {
    Problem::not_found()
}

async fn wrong_method() -> impl IntoResponse {
    Problem::method_not_allowed()
}
