//! Redirects after forms that a browser without scripts sends.
//!
//! The server functions' library redirects such a browser to its `Referer`, with the whole error in
//! the address. This layer passes on a `Referer` of the panel's own pages only, and replaces the
//! error with its kind (`?error=conflict`). The page finds the sentence itself.
use app::{error::UiError, routes};
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use leptos::server_fn::error::ServerFnUrlError;
use std::sync::Arc;
use url::Url;

/// The query parameter of the page that the browser is redirected to after a form has failed.
const ERROR: &str = "error";
/// Query parameters that an earlier form, or another site's link, may have left in the page's
/// address.
const OUTCOMES: [&str; 5] = [ERROR, "notice", "object", LIBRARY_ERROR, LIBRARY_PATH];
/// Set by the library: the error as base64 of JSON, and the server function's path.
const LIBRARY_ERROR: &str = "__err";
const LIBRARY_PATH: &str = "__path";

/// Limits the redirects of plain forms to the panel's pages.
pub async fn redirect_within_panel(
    State(public_url): State<Arc<Url>>,
    mut request: Request,
    next: Next,
) -> Response {
    if !request.uri().path().starts_with("/api/") || !accepts_html(request.headers()) {
        return next.run(request).await;
    }
    let back = page_of_referer(request.headers(), &public_url)
        .unwrap_or_else(|| page_of_project(&public_url, request.uri().query()));
    request.headers_mut().remove(header::REFERER);
    // ASCII: a URL is percent-encoded
    if let Ok(referer) = HeaderValue::from_str(back.as_str()) {
        request.headers_mut().insert(header::REFERER, referer);
    }
    let mut response = next.run(request).await;
    if let Some(location) = response.headers().get(header::LOCATION) {
        let to = within_panel(location, &public_url).unwrap_or_else(|| relative(&back));
        if let Ok(to) = HeaderValue::from_str(&to) {
            response.headers_mut().insert(header::LOCATION, to);
        }
    }
    response
}

fn accepts_html(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|accepted| accepted.to_str().ok())
        .is_some_and(|accepted| accepted.contains("text/html"))
}

/// Returns the page of the form: of this origin, below `/projects/`, without earlier outcomes.
fn page_of_referer(headers: &HeaderMap, public_url: &Url) -> Option<Url> {
    let referer = Url::parse(headers.get(header::REFERER)?.to_str().ok()?).ok()?;
    let mut page = own_page(referer, public_url)?;
    page.set_fragment(None);
    without_outcomes(&mut page);
    Some(page)
}

/// Returns the first page of the project in the form, if there is no usable `Referer`.
fn page_of_project(public_url: &Url, query: Option<&str>) -> Url {
    let project = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes())
        .find(|(name, value)| name == "project" && !value.is_empty());
    let path = project.map_or_else(
        || "/".to_owned(),
        |(_, project)| routes::launchpad(&project),
    );
    let mut page = public_url.clone();
    page.set_path(&path);
    page.set_query(None);
    page.set_fragment(None);
    page
}

/// Returns the `Location` as a path of the panel, with an error as its kind; `None` for any other
/// address.
fn within_panel(location: &HeaderValue, public_url: &Url) -> Option<String> {
    let mut to = own_page(public_url.join(location.to_str().ok()?).ok()?, public_url)?;
    let failed = to
        .query_pairs()
        .find(|(name, _)| name == LIBRARY_ERROR)
        .map(|(_, error)| ServerFnUrlError::<UiError>::decode_err(&error).kind);
    if let Some(kind) = failed {
        without_outcomes(&mut to);
        to.query_pairs_mut().append_pair(ERROR, kind.as_str());
    }
    Some(relative(&to))
}

/// Returns the URL itself if it is one of the panel's pages: an app may share the origin, and
/// `//host` as a path would be another host.
fn own_page(url: Url, public_url: &Url) -> Option<Url> {
    let is_page = url.path() == "/" || routes::project_of(url.path()).is_some();
    (url.origin() == public_url.origin() && is_page).then_some(url)
}

fn without_outcomes(url: &mut Url) {
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| !OUTCOMES.contains(&name.as_ref()))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    url.set_query(None);
    if !kept.is_empty() {
        url.query_pairs_mut().extend_pairs(kept);
    }
}

fn relative(url: &Url) -> String {
    url[url::Position::BeforePath..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use app::error::UiErrorKind;
    use axum::{
        Router, body::Body, http::StatusCode, middleware::from_fn_with_state,
        response::IntoResponse, routing::post,
    };
    use tower::ServiceExt;

    const ORIGIN: &str = "https://panel.example.org";

    /// Responds as the library does: redirects to the `Referer`, with the error if there is one.
    async fn as_the_library(headers: HeaderMap, error: Option<UiError>) -> Response {
        let referer = headers
            .get(header::REFERER)
            .map_or("/", |referer| referer.to_str().expect("a readable header"));
        let to = match error {
            Some(error) => ServerFnUrlError::new("/api/objects/scale", error)
                .to_url(referer)
                .map_or_else(|_| referer.to_owned(), |url| url.to_string()),
            None => referer.to_owned(),
        };
        (StatusCode::FOUND, [(header::LOCATION, to)]).into_response()
    }

    async fn location(path: &str, referer: Option<&str>, accept: &str) -> String {
        let error =
            || UiError::new(UiErrorKind::Conflict, "Call 0800 SCAM at once.").next_step("Pay.");
        let router = Router::new()
            .route(
                "/api/fails",
                post(move |h: HeaderMap| as_the_library(h, Some(error()))),
            )
            .route("/api/works", post(|h: HeaderMap| as_the_library(h, None)))
            .route(
                "/api/leads-away",
                post(|| async {
                    (
                        StatusCode::FOUND,
                        [(header::LOCATION, "https://evil.example/")],
                    )
                }),
            )
            .layer(from_fn_with_state(
                Arc::new(Url::parse(ORIGIN).expect("a URL")),
                redirect_within_panel,
            ));
        let mut request = axum::http::Request::post(path).header(header::ACCEPT, accept);
        if let Some(referer) = referer {
            request = request.header(header::REFERER, referer);
        }
        let request = request.body(Body::empty()).expect("a request");
        let response = router.oneshot(request).await.expect("an answer");
        let location = response.headers().get(header::LOCATION);
        location
            .map(|to| to.to_str().expect("a readable header").to_owned())
            .unwrap_or_default()
    }

    #[tokio::test]
    async fn finding_s8_a_form_leads_back_to_a_page_of_the_same_origin_only() {
        let page = format!("{ORIGIN}/projects/p1/clusters/c?sort=-age");
        let own = location("/api/works", Some(&page), "text/html").await;
        assert_eq!(own, "/projects/p1/clusters/c?sort=-age");
        for foreign in [
            "https://evil.example/projects/p1",
            "https://panel.example.org.evil.example/projects/p1",
            "https://panel.example.org:8443/projects/p1",
            "http://panel.example.org/projects/p1",
            "https://panel.example.org//evil.example/projects/p1",
            "https://panel.example.org/grafana/projects/p1",
            "https://panel.example.org/oauth2/sign_out",
            "https://panel.example.org\\@evil.example/projects/",
            "javascript:alert(1)",
            "/projects/p1",
            "",
        ] {
            for path in ["/api/works?project=p9", "/api/fails?project=p9"] {
                let to = location(path, Some(foreign), "text/html").await;
                assert!(
                    ["/projects/p9", "/projects/p9?error=conflict"].contains(&to.as_str()),
                    "{foreign} led to {to}"
                );
            }
        }
        let without_any = location("/api/works", None, "text/html").await;
        assert_eq!(without_any, "/");
        let away = location("/api/leads-away?project=p9", None, "text/html").await;
        assert_eq!(away, "/projects/p9");
    }

    #[tokio::test]
    async fn finding_s8_the_outcome_is_a_kind_of_error_and_no_text() {
        let page = format!(
            "{ORIGIN}/projects/p1?sort=-age&notice=scale&object=pay&error=internal&__err=eA&__path=x"
        );
        let to = location("/api/fails", Some(&page), "text/html,*/*").await;
        assert_eq!(to, "/projects/p1?sort=-age&error=conflict");
        // what an earlier form left must not become the outcome of this one
        let to = location("/api/works", Some(&page), "text/html,*/*").await;
        assert_eq!(to, "/projects/p1?sort=-age");
    }

    #[tokio::test]
    async fn finding_s8_calls_of_scripts_are_left_alone() {
        let page = "https://evil.example/";
        let to = location("/api/works", Some(page), "application/json").await;
        // the library redirects only clients that accept HTML
        assert_eq!(to, page);
    }
}
