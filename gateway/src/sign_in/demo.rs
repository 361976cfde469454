//! `GET /oauth2/demo/password`: returns the password that the sign-in page of a demonstration fills
//! in. Demo mode only.
use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use secrecy::ExposeSecret as _;
use serde_json::json;

use super::SignIn;
use crate::http::{error_response::Problem, security_headers::harden};

pub(crate) async fn get(State(sign_in): State<Arc<SignIn>>) -> Result<Response, Problem> {
    let password = sign_in
        .demo_password
        .as_ref()
        .ok_or_else(Problem::not_found)?;
    let mut answer = Json(json!({ "password": password.expose_secret() })).into_response();
    harden(answer.headers_mut());
    Ok(answer)
}
