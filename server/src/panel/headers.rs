//! Response headers of the panel: content security policy, caching and the like.
use crate::caller::origin;
use axum::{
    extract::Request,
    http::{HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};
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

/// Sets the headers of every response; pages and data are never stored.
pub async fn set(request: Request, next: Next) -> Response {
    let is_asset = is_asset(request.uri().path());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), geolocation=(), microphone=(), payment=()",
        ),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    if !is_asset {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // a response without a policy of its own may load nothing at all
        headers
            .entry(header::CONTENT_SECURITY_POLICY)
            .or_insert(HeaderValue::from_static(
                "default-src 'none'; frame-ancestors 'none'",
            ));
    }
    response
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

fn is_asset(path: &str) -> bool {
    path.starts_with("/pkg/") || ASSETS.contains(&path)
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
