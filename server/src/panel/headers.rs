//! Response headers of the panel: content security policy, caching and the like.
use crate::caller::origin;
use axum::{
    Router,
    extract::Request,
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
use tower_http::set_header::SetResponseHeaderLayer;
use url::Url;

/// Returns the policy of a page. Scripts and inline styles need the page's nonce; WebSockets
/// connect to the own host only (`'self'` covers them in newer browsers, the explicit address in
/// all).
pub fn content_security_policy(nonce: &str, public_url: &Url) -> Option<HeaderValue> {
    let own = origin(public_url);
    // http becomes ws, https becomes wss
    let sockets = own.replacen("http", "ws", 1);
    HeaderValue::from_str(&format!(
        "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; \
         style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; \
         connect-src 'self' {sockets}; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'; object-src 'none'"
    ))
    .ok()
}

/// Adds the headers that every response has, unless it has its own.
pub fn set(router: Router) -> Router {
    router.layer((
        unless_present(header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        unless_present(header::REFERRER_POLICY, "same-origin"),
        unless_present(header::X_FRAME_OPTIONS, "DENY"),
        unless_present(
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        unless_present(
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=(), payment=()",
        ),
    ))
}

/// Adds the headers of pages and data: they are never stored, and a response without a policy of
/// its own may load nothing at all.
pub fn set_for_pages(router: Router) -> Router {
    router.layer((
        SetResponseHeaderLayer::overriding(
            header::CACHE_CONTROL,
            HeaderValue::from_static("no-store"),
        ),
        unless_present(
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; frame-ancestors 'none'",
        ),
    ))
}

fn unless_present(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}

/// Sets the caching of built files: long if their name changes with their content, otherwise
/// revalidated.
pub async fn cache_assets(request: Request, next: Next) -> Response {
    let hashed = has_hash(request.uri().path());
    let mut response = next.run(request).await;
    if response.status().is_success() || response.status() == 304 {
        let value = if hashed {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, HeaderValue::from_static(value));
    }
    response
}

/// Files beside `/pkg` that are not pages.
pub const ASSETS: [&str; 2] = ["/favicon.svg", "/robots.txt"];

/// Returns whether a file name holds a hash: `terminal.3f9a1c2b.js`, `app-8c1d0e2f.css`.
fn has_hash(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.split(['.', '-'])
        .any(|part| part.len() >= 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{body::Body, http::StatusCode, routing::get};
    use tower::ServiceExt as _;

    #[tokio::test]
    async fn pages_are_never_stored_and_files_have_only_the_headers_of_every_response() {
        let own = [
            (header::CACHE_CONTROL, "public, max-age=600"),
            (header::CONTENT_SECURITY_POLICY, "default-src 'self'"),
            (header::X_FRAME_OPTIONS, "SAMEORIGIN"),
        ];
        let pages = Router::new()
            .route("/own", get(|| async { (own, "page") }))
            .route("/data", get(|| async { "data" }))
            .fallback(|| async { StatusCode::NOT_FOUND });
        let files = Router::new().route("/file", get(|| async { "file" }));
        let router = set(set_for_pages(pages).merge(files));
        let (nothing, own) = (
            Some("default-src 'none'; frame-ancestors 'none'"),
            Some("default-src 'self'"),
        );
        let stored = Some("no-store");
        for (path, caching, policy, frames) in [
            ("/own", stored, own, "SAMEORIGIN"),
            ("/data", stored, nothing, "DENY"),
            ("/nowhere", stored, nothing, "DENY"),
            ("/file", None, None, "DENY"),
        ] {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let response = router.clone().oneshot(request).await.unwrap();
            let value = |name: HeaderName| {
                let mut lines = response.headers().get_all(name).iter();
                let line = lines.next().map(|line| line.to_str().unwrap());
                assert!(lines.next().is_none(), "{path}");
                line
            };
            assert_eq!(value(header::CACHE_CONTROL), caching, "{path}");
            assert_eq!(value(header::CONTENT_SECURITY_POLICY), policy, "{path}");
            assert_eq!(value(header::X_FRAME_OPTIONS), Some(frames), "{path}");
            assert_eq!(
                value(header::X_CONTENT_TYPE_OPTIONS),
                Some("nosniff"),
                "{path}"
            );
        }
    }

    #[test]
    fn the_policy_names_the_nonce_and_the_own_host_only() {
        let url = Url::parse("https://panel.example.org/").unwrap();
        let policy = content_security_policy("abc", &url).unwrap();
        let policy = policy.to_str().unwrap();
        assert!(policy.contains("script-src 'self' 'nonce-abc' 'wasm-unsafe-eval';"));
        assert!(policy.contains("connect-src 'self' wss://panel.example.org;"));
        assert!(!policy.contains("unsafe-inline"));
        let local = Url::parse("http://localhost:8080").unwrap();
        let policy = content_security_policy("abc", &local).unwrap();
        assert!(policy.to_str().unwrap().contains("ws://localhost:8080;"));
    }

    #[test]
    fn only_names_with_a_hash_are_kept() {
        assert!(has_hash("/pkg/terminal.3f9a1c2b.js"));
        assert!(!has_hash("/pkg/app.js"));
        assert!(!has_hash("/pkg/app_bg.wasm"));
    }
}
