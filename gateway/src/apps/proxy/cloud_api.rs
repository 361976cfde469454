//! What a command line calls by the panel (ADR 0026): the cloud's services, and journals of clusters.
//!
//! It is authenticated by the bearer token of `portico login` only. Cookies are not read and not
//! forwarded, so no page of another origin can use these paths, and no CSRF token is needed.
use std::sync::Arc;

use axum::{Extension, body::Body, extract::State, response::Response};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use portico_assertion::command_line;
use portico_openstack::rest::REASON;
use portico_proxy::stream::upgrade;
use portico_store::Outcome;

use super::{ReverseProxy, panel_audit::OnBehalf, project::project_of};
use crate::{
    audit::Event,
    client_api::bearer::CommandLineCaller,
    config::PANEL_ID,
    http::{access_log, error_response::Problem, interrupt::Interrupt},
    request_context::Context,
    sessions::assertion::ForPanel,
};

const CLIENT: HeaderName = HeaderName::from_static(command_line::HEADER);
/// Maximum length of the reason of a change, in bytes: the journal has 300 characters, and each may be
/// written as twelve bytes.
const MAX_REASON_BYTES: usize = 3_600;

/// Forwards a request of a command line to the panel, with the user's identity and Keystone token in the
/// project of the URL.
pub(crate) async fn forward(
    State(reverse_proxy): State<Arc<ReverseProxy>>,
    Extension(context): Extension<Context>,
    CommandLineCaller(caller): CommandLineCaller,
    mut request: Request<Body>,
) -> Result<Response, Interrupt> {
    if upgrade::asked(&request) {
        return Err(Problem::method_not_allowed().into());
    }
    let reason = reason(request.headers())?;
    let token = match project_of(&request) {
        Some(project) => {
            let sessions = &reverse_proxy.sessions;
            sessions.project_token(&caller.live, &project).await?
        }
        None => None,
    };
    // unknown projects, and those of other users, look alike
    let Some(token) = token else {
        access_log::rule("no_project");
        let event = Event::new("cloud_api.call", Outcome::Denied)
            .session(&caller.session)
            .target(request.uri().path())
            .reason("no role in the project");
        reverse_proxy.audit.record(&context, event).await;
        return Err(no_role().into());
    };
    let signed = reverse_proxy.assertions.identity_headers(
        &caller,
        PANEL_ID,
        Some(&token),
        ForPanel::default(),
    )?;
    let mut identity = signed.to_vec();
    identity.push((CLIENT, HeaderValue::from_static(command_line::VALUE)));
    identity.extend(reason.map(|reason| (REASON, reason)));
    request.headers_mut().remove(header::COOKIE);
    let on_behalf = OnBehalf {
        session: Arc::clone(&caller.session),
        project: Some(token.project.id.clone()),
    };
    let connection = caller.live.connections.open();
    reverse_proxy
        .pass_on_to_panel(&context, connection, on_behalf, identity.into(), request)
        .await
}

/// Returns the reason of a change as the client wrote it, for the panel to decode: the forwarder removes
/// the client's own header.
fn reason(headers: &HeaderMap) -> Result<Option<HeaderValue>, Problem> {
    let mut lines = headers.get_all(REASON).iter();
    let reason = lines.next();
    if lines.next().is_some() || reason.is_some_and(|reason| reason.len() > MAX_REASON_BYTES) {
        return Err(Problem::bad_request(
            "The reason of the change is given twice, or is longer than 300 characters.",
        ));
    }
    Ok(reason.cloned())
}

fn no_role() -> Problem {
    Problem::downstream(
        StatusCode::FORBIDDEN,
        "no_project",
        "No access to this project",
        "You have no role in this project, or it does not exist. Ask a project administrator for access.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Result<Option<String>, Problem> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(REASON, HeaderValue::from_str(line).expect("a value"));
        }
        let reason = reason(&headers)?;
        Ok(reason.and_then(|reason| reason.to_str().map(str::to_owned).ok()))
    }

    #[test]
    fn there_is_one_reason_of_limited_length() {
        assert_eq!(read(&[]).expect("none"), None);
        let one = read(&["CHG-12"]).expect("one");
        assert_eq!(one.as_deref(), Some("CHG-12"));
        assert!(read(&["a", "b"]).is_err());
        assert!(read(&[&"x".repeat(MAX_REASON_BYTES + 1)]).is_err());
    }
}
