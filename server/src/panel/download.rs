//! File downloads.
use crate::caller::{self, Caller};
use crate::service::{Services, authentication, error::ServiceError, lifecycle};
use app::error::UiErrorKind;
use axum::{
    extract::{Path, Query, Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use portico_domain::panel::{System, lifecycle::JournalFilter};
use serde::Deserialize;
use std::sync::Arc;
use tower::ServiceExt as _;
use tower_http::services::ServeFile;
use uuid::Uuid;

/// Returns the kubeconfig of a cluster that the caller's project may see.
pub async fn kubeconfig(
    State(services): State<Arc<Services>>,
    Path((_, cluster)): Path<(String, Uuid)>,
    caller: Caller,
) -> Response {
    let url = caller::origin(&services.public_url);
    let answer = match services.cluster(&caller, cluster) {
        Ok(cluster) => authentication::kubeconfig(&cluster, &url)
            .await
            .map(|text| (file_name(&cluster.record().name), text)),
        Err(error) => Err(error),
    };
    match answer {
        Ok((name, text)) => (
            [
                (header::CONTENT_TYPE, "application/yaml".to_owned()),
                (
                    header::CONTENT_DISPOSITION,
                    format!("attachment; filename=\"{name}\""),
                ),
            ],
            text,
        )
            .into_response(),
        Err(error) => refused(error, &caller),
    }
}

/// Which entries of a journal are wanted.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct JournalQuery {
    /// Only those with a higher sequence number.
    after: Option<i64>,
    /// Only those that match: the parameters of the page's address.
    hide: Option<String>,
    user: Option<String>,
    text: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

impl JournalQuery {
    fn filter(&self) -> JournalFilter {
        JournalFilter::from_parameters(|name| match name {
            "hide" => self.hide.clone(),
            "user" => self.user.clone(),
            "text" => self.text.clone(),
            "since" => self.since.clone(),
            "until" => self.until.clone(),
            _ => None,
        })
    }
}

/// Returns the journal of a managed cluster as JSON lines.
pub async fn journal(
    State(services): State<Arc<Services>>,
    Path((_, cluster)): Path<(String, Uuid)>,
    Query(query): Query<JournalQuery>,
    caller: Caller,
) -> Response {
    let (after, filter) = (query.after, query.filter());
    match lifecycle::export_journal(&services, &caller, cluster, after, &filter).await {
        Ok(text) => {
            let name = format!("attachment; filename=\"journal-{cluster}.jsonl\"");
            let kind = "application/jsonl".to_owned();
            let headers = [
                (header::CONTENT_TYPE, kind),
                (header::CONTENT_DISPOSITION, name),
            ];
            (headers, text).into_response()
        }
        Err(error) => refused(error, &caller),
    }
}

/// Returns the program for users' machines in a file that the panel offers, whole or in ranges.
pub async fn program(
    State(services): State<Arc<Services>>,
    Path((_, file)): Path<(String, String)>,
    caller: Caller,
    request: Request,
) -> Response {
    let programs = match services.programs(&caller) {
        Ok(programs) => programs,
        Err(error) => return refused(error, &caller),
    };
    let Some(offer) = programs.find(&file).await else {
        let error = ServiceError::not_found("No program with this name is offered here.");
        return refused(error, &caller);
    };
    let served = ServeFile::new(&offer.path).oneshot(request).await;
    let mut response = served
        .unwrap_or_else(|never| match never {})
        .into_response();
    if response.status().is_success() {
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/octet-stream"),
        );
        // under the name that the commands of the page use
        let name = match offer.system {
            System::Windows => "attachment; filename=\"portico.exe\"",
            System::Linux | System::Darwin => "attachment; filename=\"portico\"",
        };
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static(name));
    }
    response
}

fn refused(error: ServiceError, caller: &Caller) -> Response {
    let error = error.into_ui(caller.request_id());
    let status = match error.kind {
        UiErrorKind::NotFound => StatusCode::NOT_FOUND,
        UiErrorKind::NotPermitted => StatusCode::FORBIDDEN,
        UiErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let next_step = error.next_step.unwrap_or_default();
    (status, format!("{} {next_step}\n", error.message)).into_response()
}

/// Returns a cluster's name as a file name: characters that could end the header or leave the
/// directory are replaced.
fn file_name(cluster: &str) -> String {
    let safe: String = cluster
        .chars()
        .take(100)
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
                c
            } else {
                '-'
            }
        })
        .collect();
    format!("{safe}.kubeconfig")
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_name_cannot_leave_its_place() {
        assert_eq!(file_name("acme-prod"), "acme-prod.kubeconfig");
        assert_eq!(file_name("../a\"\r\nb"), "---a---b.kubeconfig");
    }
}
