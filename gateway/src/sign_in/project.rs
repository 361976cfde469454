//! `GET` and `POST /oauth2/project`: the choice of a project, for signed-in users.
use std::sync::Arc;

use axum::{
    Extension,
    extract::{OriginalUri, State},
    response::{IntoResponse as _, Response},
};
use portico_domain::identity::Project;
use secrecy::ExposeSecret as _;

use super::SignIn;
use crate::{
    authentication::extract::{SignedIn, SignedInForm},
    http::{
        error_response::Problem, forms::Fields, interrupt::Interrupt, redirect::see_other,
        return_path::ReturnPath,
    },
    pages::sign_in::{Projects, STAY_FIELD},
    request_context::Context,
    sessions::live::Live,
};

pub(crate) async fn get(
    State(sign_in): State<Arc<SignIn>>,
    SignedIn(caller): SignedIn,
    OriginalUri(uri): OriginalUri,
) -> Result<Response, Interrupt> {
    let query = Fields::of_query(&uri)?;
    let root = caller.live.root();
    let return_path = ReturnPath::from_query(query.optional("rd"));
    let credentials = sign_in.store.session_credentials();
    let stays = credentials.of_session(root.id, sign_in.clock.now()).await?;
    let stay = query.get(STAY_FIELD) == "1" && sign_in.session.stays().is_some();
    let page = Projects {
        user: &root.user.name,
        projects: &last_first(&caller.live),
        last: root.last_project.as_deref(),
        return_path: return_path.as_str(),
        csrf: caller.session.csrf.expose_secret(),
        stay: stay && stays.is_none(),
        stays_in: stays.as_ref().map(|stays| stays.project_name.as_str()),
    };
    Ok(page.page().into_response())
}

pub(crate) async fn post(
    State(sign_in): State<Arc<SignIn>>,
    Extension(context): Extension<Context>,
    SignedInForm { caller, fields }: SignedInForm,
) -> Result<Response, Interrupt> {
    let Some(project) = caller.live.project(fields.get("project")) else {
        return Err(Problem::bad_request("You have no role in this project.").into());
    };
    sign_in
        .store
        .sessions()
        .set_last_project(&caller.session, &project.id, sign_in.clock.now())
        .await?;
    sign_in.sessions.registry.refresh(caller.live.id);
    if fields.get(STAY_FIELD) == "1" {
        sign_in
            .sessions
            .stay(&context, &caller, &project.id)
            .await?;
    }
    let return_path = ReturnPath::from_query(fields.optional("rd"));
    if return_path.leads_somewhere() && !return_path.path().starts_with("/projects/") {
        return Ok(see_other(return_path.as_str()));
    }
    Ok(see_other(&format!("/projects/{}", project.id)))
}

/// Returns the session's projects, the one used last first.
pub(crate) fn last_first(live: &Live) -> Vec<Project> {
    let root = live.root();
    let mut projects = root.projects.clone();
    if let Some(last) = &root.last_project {
        projects.sort_by_key(|project| project.id != *last);
    }
    projects
}
