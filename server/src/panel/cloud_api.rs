//! The paths of the command line below `/projects/{project}/cloud/` (ADR 0026): the cloud's services, and
//! the journals, the protection and the enrolment of clusters.
//!
//! They are for requests that the gateway has authenticated by a bearer token. One with the cookie of a
//! browser is refused: a page of another origin could send it.
mod enrolment;

pub use enrolment::{enrol, enrolment, remove_record};

use super::download;
use crate::{
    caller::Caller,
    service::{
        Services,
        lifecycle::{CloudRefusal, CloudRequest, cloud_protection, pass_on, set_cloud_protection},
    },
    session_budgets::{Resource, SessionBudgets, Share},
};
use axum::{
    Json,
    body::to_bytes,
    extract::{Path, Query, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portico_assertion::command_line;
use portico_openstack::rest::{PassedAnswer, REASON};
use serde::Serialize;
use serde_json::json;
use std::{sync::Arc, time::Duration};
use url::form_urlencoded;
use uuid::Uuid;

const API_VERSION: HeaderName = HeaderName::from_static("openstack-api-version");
const MINIMUM_VERSION: HeaderName = HeaderName::from_static("openstack-api-minimum-version");
const MAXIMUM_VERSION: HeaderName = HeaderName::from_static("openstack-api-maximum-version");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-openstack-request-id");
/// Maximum size of a request body, in bytes: that of the client of the services.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// How long the body of a request may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// After how many seconds a call may be repeated that was one too many.
const RETRY_AFTER_SECONDS: &str = "1";

/// Passes a call of the command line on to a service of the cloud.
pub async fn call(
    State(services): State<Arc<Services>>,
    caller: Caller,
    request: Request,
) -> Response {
    let admitted = admit(&services.budgets, caller.session_id(), request.headers());
    let _share = match admitted {
        Ok(share) => share,
        Err(refusal) => return refused(&refusal),
    };
    let request = match read(&caller, request).await {
        Ok(request) => request,
        Err(refusal) => return refused(&refusal),
    };
    match pass_on(&services, &caller, &request).await {
        Ok(answer) => answered(answer),
        Err(refusal) => refused(&refusal),
    }
}

/// Returns the journal of a managed cluster as JSON lines, as [`download::journal`].
pub async fn journal(
    services: State<Arc<Services>>,
    path: Path<(String, Uuid)>,
    query: Query<download::JournalQuery>,
    caller: Caller,
    headers: HeaderMap,
) -> Response {
    let admitted = admit(&services.budgets, caller.session_id(), &headers);
    let _share = match admitted {
        Ok(share) => share,
        Err(refusal) => return refused(&refusal),
    };
    download::journal(services, path, query, caller).await
}

/// Returns whether a managed cluster is protected from deletion.
pub async fn protection(
    State(services): State<Arc<Services>>,
    Path((_, cluster)): Path<(String, Uuid)>,
    caller: Caller,
    request: Request,
) -> Response {
    match admit(&services.budgets, caller.session_id(), request.headers()) {
        Ok(_share) => shown(cloud_protection(&services, &caller, cluster).await),
        Err(refusal) => refused(&refusal),
    }
}

/// Protects a managed cluster from deletion, or removes its protection.
pub async fn set_protection(
    State(services): State<Arc<Services>>,
    Path((_, cluster)): Path<(String, Uuid)>,
    caller: Caller,
    request: Request,
) -> Response {
    let admitted = admit(&services.budgets, caller.session_id(), request.headers());
    let _share = match admitted {
        Ok(share) => share,
        Err(refusal) => return refused(&refusal),
    };
    match read(&caller, request).await {
        Ok(request) => {
            let changed = set_cloud_protection(&services, &caller, cluster, &request).await;
            shown(changed)
        }
        Err(refusal) => refused(&refusal),
    }
}

fn shown(answer: Result<impl Serialize, CloudRefusal>) -> Response {
    match answer {
        Ok(answer) => Json(answer).into_response(),
        Err(refusal) => refused(&refusal),
    }
}

/// Returns the share of a call in its session's calls, which is released with the response.
///
/// # Errors
/// 403 for a request of a browser; 429 if the session has as many calls as it may have.
fn admit(
    budgets: &SessionBudgets,
    session: &str,
    headers: &HeaderMap,
) -> Result<Share, CloudRefusal> {
    if !is_of_command_line(headers) {
        return Err(cookie_refused());
    }
    let share = budgets.take(session, Resource::CloudCalls, 1);
    share.map_err(|limit| CloudRefusal::new(StatusCode::TOO_MANY_REQUESTS, limit.to_string()))
}

fn is_of_command_line(headers: &HeaderMap) -> bool {
    let mut marks = headers.get_all(command_line::HEADER).iter();
    let is_marked = marks
        .next()
        .is_some_and(|mark| mark.as_bytes() == command_line::VALUE.as_bytes());
    is_marked && marks.next().is_none()
}

fn cookie_refused() -> CloudRefusal {
    CloudRefusal::new(
        StatusCode::FORBIDDEN,
        "This address is for the command line, with a token of `portico login`.",
    )
}

async fn read(caller: &Caller, request: Request) -> Result<CloudRequest, CloudRefusal> {
    let (parts, body) = request.into_parts();
    let project = caller.project().map(|project| project.id.as_str());
    let path = project.and_then(|project| below(parts.uri.path(), project));
    let path = path.ok_or_else(|| {
        CloudRefusal::new(
            StatusCode::FORBIDDEN,
            "You have no role in this project. Ask a project administrator for access.",
        )
    })?;
    let text = |name: HeaderName| -> Result<Option<String>, CloudRefusal> {
        let mut values = parts.headers.get_all(&name).iter();
        let Some(value) = values.next() else {
            return Ok(None);
        };
        match (value.to_str(), values.next()) {
            (Ok(text), None) => Ok(Some(text.to_owned())),
            _ => Err(CloudRefusal::new(
                StatusCode::BAD_REQUEST,
                format!("The header {name} is not a text, or is given twice."),
            )),
        }
    };
    let reading = tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY_BYTES));
    let body = match reading.await {
        Ok(Ok(body)) => body.to_vec(),
        Ok(Err(_)) => {
            return Err(CloudRefusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is longer than 64 KiB, or was not sent completely.",
            ));
        }
        Err(_) => {
            return Err(CloudRefusal::new(
                StatusCode::REQUEST_TIMEOUT,
                "The body did not arrive in time.",
            ));
        }
    };
    Ok(CloudRequest {
        method: parts.method.clone(),
        path: path.to_owned(),
        query: parts.uri.query().map(str::to_owned),
        version: text(API_VERSION)?,
        body,
        reason: text(REASON)?.map(|reason| decoded(&reason)),
    })
}

/// Returns the path below `/projects/{project}/cloud/` as it was sent: what is encoded in it fits no call.
fn below<'p>(path: &'p str, project: &str) -> Option<&'p str> {
    path.strip_prefix("/projects/")?
        .strip_prefix(project)?
        .strip_prefix("/cloud/")
}

/// Decodes a reason, which is form-encoded so that it can have every character.
fn decoded(reason: &str) -> String {
    let pair = format!("reason={reason}");
    let mut pairs = form_urlencoded::parse(pair.as_bytes());
    let value = pairs.next().map(|(_, value)| value.into_owned());
    let value = value.unwrap_or_default();
    value.chars().filter(|c| !c.is_control()).collect()
}

/// Returns the answer of a service with the headers that a client of it reads, and no others.
fn answered(answer: PassedAnswer) -> Response {
    let mut headers = HeaderMap::new();
    let is_json = answer
        .body
        .first()
        .is_some_and(|byte| matches!(byte, b'{' | b'['));
    let kind = match is_json {
        true => "application/json",
        // a page of a proxy in front of the service
        false => "text/plain; charset=utf-8",
    };
    if !answer.body.is_empty() {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    let versions = answer.versions.map(|versions| {
        [
            (MINIMUM_VERSION, format!("container-infra {}", versions.min)),
            (MAXIMUM_VERSION, format!("container-infra {}", versions.max)),
        ]
    });
    let id = answer.request_id.map(|id| (REQUEST_ID, id));
    for (name, text) in versions.into_iter().flatten().chain(id) {
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(name, value);
        }
    }
    (answer.status, headers, answer.body).into_response()
}

/// Returns a refusal in the format of Magnum's errors.
fn refused(refusal: &CloudRefusal) -> Response {
    let body = json!({"errors": [{
        "status": refusal.status.as_u16(),
        "code": "portico",
        "title": "Portico did not pass the request on",
        "detail": refusal.detail,
    }]});
    let kind = [(header::CONTENT_TYPE, "application/json")];
    let mut response = (refusal.status, kind, body.to_string()).into_response();
    if refusal.status == StatusCode::TOO_MANY_REQUESTS {
        let seconds = HeaderValue::from_static(RETRY_AFTER_SECONDS);
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::panel::StreamLimits;

    fn headers(marks: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for mark in marks {
            headers.append(command_line::HEADER, HeaderValue::from_static(mark));
        }
        headers
    }

    fn marked(marks: &[&'static str]) -> bool {
        is_of_command_line(&headers(marks))
    }

    #[test]
    fn attack_114_a_request_with_a_cookie_is_not_the_command_lines() {
        assert!(marked(&["command-line"]), "the control case");
        for marks in [
            &[][..],
            &["browser"],
            &["command-line", "command-line"],
            &[""],
        ] {
            assert!(!marked(marks), "{marks:?}");
        }
    }

    #[test]
    fn attack_122_a_session_has_a_limited_number_of_calls_at_the_same_time() {
        let limits = StreamLimits::default();
        let budgets = SessionBudgets::new(limits);
        let marked = headers(&["command-line"]);
        let call = |session: &str| admit(&budgets, session, &marked);
        let mut open: Vec<_> = (0..limits.max_cloud_calls)
            .map(|_| call("s1").unwrap())
            .collect();
        let refusal = call("s1").unwrap_err();
        assert_eq!(refusal.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(refusal.detail.contains("16 calls"), "{}", refusal.detail);
        let response = refused(&refusal);
        assert_eq!(response.headers()[header::RETRY_AFTER], RETRY_AFTER_SECONDS);
        // control cases: another session, and one call less
        assert!(call("s2").is_ok());
        open.pop();
        assert!(call("s1").is_ok());
        // a browser gets no share
        let refusal = admit(&budgets, "s1", &headers(&[])).unwrap_err();
        assert_eq!(refusal.status, StatusCode::FORBIDDEN);
        assert!(
            !refused(&refusal)
                .headers()
                .contains_key(header::RETRY_AFTER)
        );
    }

    #[test]
    fn attack_115_a_path_belongs_to_the_project_of_the_caller() {
        let path = "/projects/p1/cloud/compute/v2.1/limits";
        assert_eq!(below(path, "p1"), Some("compute/v2.1/limits"));
        assert_eq!(below("/projects/cloud/cloud/x", "cloud"), Some("x"));
        for path in [
            "/projects/p2/cloud/compute/v2.1/limits",
            "/projects/p11/cloud/compute",
            "/projects/p1/clouds/compute",
            "/projects/p1/../p1/cloud/compute",
            "/x/projects/p1/cloud/compute",
        ] {
            assert_eq!(below(path, "p1"), None, "{path}");
        }
    }

    #[test]
    fn a_reason_has_every_character_but_control_characters() {
        assert_eq!(decoded("St%C3%B6rung%2C+CHG-12"), "Störung, CHG-12");
        assert_eq!(decoded("a%26b%3Dc&d"), "a&b=c");
        assert_eq!(decoded("a%0D%0Ab%1B"), "ab");
    }

    #[test]
    fn of_an_answer_only_the_headers_of_the_service_client_remain() {
        let response = answered(PassedAnswer {
            status: StatusCode::CONFLICT,
            request_id: Some("req-1".to_owned()),
            versions: None,
            body: b"{}".to_vec(),
            fault: None,
        });
        assert_eq!(response.status(), StatusCode::CONFLICT);
        let headers = response.headers();
        assert_eq!(headers[REQUEST_ID], "req-1");
        assert_eq!(headers[header::CONTENT_TYPE], "application/json");
        assert!(!headers.contains_key(MINIMUM_VERSION));
    }

    #[test]
    fn a_page_of_a_proxy_is_not_rendered() {
        let response = answered(PassedAnswer {
            status: StatusCode::BAD_GATEWAY,
            request_id: None,
            versions: None,
            body: b"<html>".to_vec(),
            fault: None,
        });
        let kind = &response.headers()[header::CONTENT_TYPE];
        assert_eq!(kind, "text/plain; charset=utf-8");
    }
}
