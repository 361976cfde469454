//! Server-rendered pages and server functions.
use super::headers;
use crate::caller::Caller;
use crate::service::{PanelService, Services};
use app::{App, error::UiError, ports::PanelRef, shell};
use axum::{
    Router,
    extract::Request,
    http::{Method, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use leptos::prelude::*;
use leptos_axum::{LeptosRoutes, ResponseOptions, generate_route_list};
use std::sync::Arc;
use url::Url;

/// The shared state of the pages' handlers.
#[derive(Clone, axum::extract::FromRef)]
pub struct PageState {
    pub leptos: LeptosOptions,
    pub services: Arc<Services>,
}

/// Returns the routes of every page and server function.
pub fn routes(state: &PageState) -> Router<PageState> {
    let context = {
        let services = Arc::clone(&state.services);
        move || provide_panel(&services)
    };
    let page = {
        let leptos = state.leptos.clone();
        let public_url = state.services.public_url.clone();
        move || {
            set_policy(&public_url);
            shell(leptos.clone())
        }
    };
    Router::new().leptos_routes_with_context(state, generate_route_list(App), context, page)
}

/// Puts the request's own panel into the context; without a caller there is none.
fn provide_panel(services: &Arc<Services>) {
    let caller = use_context::<Parts>().and_then(|parts| parts.extensions.get::<Caller>().cloned());
    if let Some(caller) = caller {
        let panel: PanelRef = Arc::new(PanelService::new(Arc::clone(services), caller));
        provide_context(panel);
    }
}

fn set_policy(public_url: &Url) {
    let nonce = leptos::nonce::use_nonce();
    let response = use_context::<ResponseOptions>();
    if let (Some(nonce), Some(response)) = (nonce, response)
        && let Some(policy) = headers::content_security_policy(&nonce, public_url)
    {
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
    }
}

/// Redirects `/` to the last or first project; a user without a project gets the page that explains
/// it.
pub async fn to_project(request: Request, next: Next) -> Response {
    if request.method() != Method::GET || request.uri().path() != "/" {
        return next.run(request).await;
    }
    let project = request.extensions().get::<Caller>().and_then(|caller| {
        let claims = caller.claims();
        let last = claims
            .next_project
            .as_ref()
            .filter(|id| claims.projects.iter().any(|project| project.id == **id));
        last.or_else(|| claims.projects.first().map(|project| &project.id))
            .cloned()
    });
    match project {
        // an ID from Keystone, but still untrusted input
        Some(id)
            if id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') =>
        {
            Redirect::to(&format!("/projects/{id}")).into_response()
        }
        _ => next.run(request).await,
    }
}

/// Renders the app for an address without a route, which shows the "not found" page.
pub async fn no_such_page(state: &PageState, request: Request) -> Response {
    let context = {
        let services = Arc::clone(&state.services);
        move || provide_panel(&services)
    };
    let leptos = state.leptos.clone();
    let public_url = state.services.public_url.clone();
    let render = leptos_axum::render_app_to_stream_with_context(context, move || {
        set_policy(&public_url);
        shell(leptos.clone())
    });
    let mut response = render(request).await.into_response();
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// Returns the response to a call that this version does not know.
pub fn unknown_call(path: &str) -> Option<UiError> {
    path.starts_with("/api/").then(|| {
        UiError::new(
            app::error::UiErrorKind::NotFound,
            "This version of the panel does not know this request.",
        )
        .next_step("Reload the page: it may be older than the server.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::routes::ROUTES;
    use std::collections::BTreeSet;

    /// Returns a pattern of the table in axum's syntax; an optional parameter results in two.
    fn as_axum(path: &str) -> Vec<String> {
        let segments: Vec<String> = path
            .split('/')
            .map(|segment| {
                segment
                    .strip_prefix(':')
                    .map_or_else(|| segment.to_owned(), |name| format!("{{{name}}}"))
            })
            .collect();
        let whole = segments.join("/");
        match whole.strip_suffix("?}") {
            Some(most) => {
                let short = most.rsplit_once('/').map_or("", |(head, _)| head);
                vec![short.to_owned(), format!("{most}}}")]
            }
            None => vec![whole],
        }
    }

    // not beside the table: a program of tests that has the whole app compiles each of its pages again
    #[test]
    fn the_table_lists_exactly_the_routers_pages() {
        let table: BTreeSet<String> = ROUTES
            .iter()
            .flat_map(|route| as_axum(route.path))
            .collect();
        let router: BTreeSet<String> = generate_route_list(App)
            .iter()
            .map(|route| route.path().to_owned())
            .collect();
        assert_eq!(table, router);
    }

    /// `apps.path` puts apps beside the panel, never in its place.
    #[tokio::test]
    async fn no_app_can_take_the_path_of_a_page_or_a_file() {
        let pages = generate_route_list(App);
        let pages = pages.iter().map(|page| page.path().to_owned());
        let files = headers::ASSETS
            .into_iter()
            .chain(["/pkg/app.js", "/api/apps"]);
        let own: Vec<String> = pages.chain(files.map(str::to_owned)).collect();
        assert!(own.len() > 8, "{own:?}");
        for path in own.iter().filter(|path| *path != "/" && !path.is_empty()) {
            assert!(!gateway::config::is_path_free(path), "{path} can be taken");
        }
        assert!(gateway::config::is_path_free("/grafana"));
    }
}
