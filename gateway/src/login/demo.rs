//! `GET /oauth2/demo/password`: returns the password that the sign-in page of a demonstration fills
//! in. Demo mode only.
use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use secrecy::ExposeSecret as _;
use serde_json::json;

use crate::{error_response::Problem, pages::layout::harden, state::Shared};

pub(crate) async fn get(State(gateway): State<Shared>) -> Result<Response, Problem> {
    let password = gateway
        .demo_password
        .as_ref()
        .ok_or_else(Problem::not_found)?;
    let mut answer = Json(json!({ "password": password.expose_secret() })).into_response();
    harden(answer.headers_mut());
    Ok(answer)
}
