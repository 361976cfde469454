//! Addresses of apps on the panel's host. An app with pages of its own is not a page of the panel:
//! `/apps/prometheus` and `/projects/{project}/apps/prometheus` lead to it, also from a project that
//! does not own it.
use super::caller::Caller;
use crate::service::Services;
use axum::{
    extract::{Request, State},
    http::Method,
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use std::sync::Arc;

/// Leads to the app that the address names, where that is elsewhere.
pub async fn lead_to_app(
    State(services): State<Arc<Services>>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let to = (request.method() == Method::GET)
        .then(|| app_of(path))
        .flatten()
        .zip(request.extensions().get::<Caller>())
        .and_then(|(id, caller)| services.apps.address(id, &caller.claims().projects));
    match to {
        // the page about the app, which it is already
        Some(to) if to == path => next.run(request).await,
        Some(to) => Redirect::to(&to).into_response(),
        None => next.run(request).await,
    }
}

/// The app's ID in an address; the project does not matter.
fn app_of(path: &str) -> Option<&str> {
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut segments = path.strip_prefix('/')?.split('/');
    let first = segments.next()?;
    if first == "projects" {
        segments.next()?;
        (segments.next()? == "apps").then_some(())?;
    } else if first != "apps" {
        return None;
    }
    let id = segments.next().filter(|id| !id.is_empty())?;
    segments.next().is_none().then_some(id)
}

#[cfg(test)]
mod tests {
    use super::app_of;

    #[test]
    fn finding_p14_an_app_is_found_in_its_old_and_new_addresses() {
        for (path, id) in [
            ("/apps/prometheus", Some("prometheus")),
            ("/apps/prometheus/", Some("prometheus")),
            ("/projects/p1/apps/prometheus", Some("prometheus")),
            ("/projects//apps/prometheus", Some("prometheus")),
            ("/apps", None),
            ("/apps/", None),
            ("/apps/prometheus/graph", None),
            ("/projects/p1/clusters/c/apps", None),
            ("/projects/apps/prometheus", None),
            ("/", None),
        ] {
            assert_eq!(app_of(path), id, "{path}");
        }
    }
}
