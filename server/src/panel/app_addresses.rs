//! Addresses of apps on the panel's host. An app with its own pages is not a page of the panel:
//! `/apps/prometheus` and `/projects/{project}/apps/prometheus` lead to it, also from a project
//! that does not own it.
use crate::caller::Caller;
use crate::service::Services;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, header},
    middleware::Next,
    response::{Html, IntoResponse, Redirect, Response},
};
use std::sync::Arc;

/// Redirects to the app of the address, if it has its own address.
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
        // this is already the page about the app
        Some(to) if to == path => next.run(request).await,
        Some(to) if is_other_address(&to) && is_within_a_page(request.headers()) => onward(&to),
        Some(to) => Redirect::to(&to).into_response(),
        None => next.run(request).await,
    }
}

/// Returns whether the app has an origin of its own.
fn is_other_address(to: &str) -> bool {
    !to.starts_with('/')
}

/// Returns whether a page of this origin started the navigation, such as the sign-in form.
fn is_within_a_page(headers: &HeaderMap) -> bool {
    headers
        .get("sec-fetch-site")
        .is_some_and(|site| site == "same-origin")
}

/// Returns a page that continues to the app by itself. Browsers do not follow a redirect to another
/// origin after a form submission if the form's page allows its own origin only (Content Security
/// Policy, `form-action`); a navigation started by a page is not covered by that.
fn onward(to: &str) -> Response {
    let link = to
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;");
    let page = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Opening the app</title></head>\
         <body><p><a href=\"{link}\">Continue to the app</a></p></body></html>"
    );
    match HeaderValue::from_str(&format!("0; url={to}")) {
        Ok(refresh) => ([(header::REFRESH, refresh)], Html(page)).into_response(),
        Err(_) => Html(page).into_response(),
    }
}

/// Returns the app's ID in an address; the project does not matter.
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
    use super::*;

    #[test]
    fn finding_p14_after_a_form_the_way_on_is_a_page_and_not_a_redirect() {
        let mut headers = HeaderMap::new();
        assert!(!is_within_a_page(&headers));
        headers.insert("sec-fetch-site", HeaderValue::from_static("none"));
        assert!(!is_within_a_page(&headers));
        headers.insert("sec-fetch-site", HeaderValue::from_static("same-origin"));
        assert!(is_within_a_page(&headers));
        assert!(is_other_address("https://prometheus.apps.example.org/"));
        assert!(!is_other_address("/projects/p1/apps/registry"));
        let page = onward("https://prometheus.apps.example.org/");
        let refresh = &page.headers()[header::REFRESH];
        assert_eq!(refresh, "0; url=https://prometheus.apps.example.org/");
    }

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
