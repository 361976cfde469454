//! `GET /oauth2/static/{file}`: serves the style sheet and the small scripts of the gateway's own
//! pages.
use std::sync::LazyLock;

use axum::{
    extract::Path,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use sha2::{Digest as _, Sha256};

/// The panel's tokens, then what these pages add.
const STYLE: &str = concat!(
    include_str!("../../../style/tokens.css"),
    include_str!("assets/portico.css")
);
/// The panel's logo.
pub(crate) const ICON: &str = include_str!("../../../public/favicon.svg");
const HANDOVER: &str = include_str!("assets/handover.js");
const DEMO: &str = include_str!("assets/demo.js");
const SIGNED_OUT: &str = include_str!("assets/signed-out.js");
const TIMES: &str = include_str!("assets/times.js");

/// A file that pages refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asset {
    Style,
    Icon,
    Handover,
    Demo,
    SignedOut,
    Times,
}

/// A hash that changes with every change of a file, so that browsers can cache the files.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for text in [STYLE, ICON, HANDOVER, DEMO, SIGNED_OUT, TIMES] {
        hash.update(text);
    }
    hash.finalize()
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
});

impl Asset {
    /// Returns the URL of the file.
    pub fn href(self) -> String {
        let name = match self {
            Asset::Style => "portico.css",
            Asset::Icon => "icon.svg",
            Asset::Handover => "handover.js",
            Asset::Demo => "demo.js",
            Asset::SignedOut => "signed-out.js",
            Asset::Times => "times.js",
        };
        format!("/oauth2/static/{name}?v={}", *VERSION)
    }
}

pub(crate) async fn get(Path(file): Path<String>) -> Response {
    let (text, kind) = match file.as_str() {
        "portico.css" => (STYLE, "text/css; charset=utf-8"),
        "icon.svg" => (ICON, "image/svg+xml"),
        "handover.js" => (HANDOVER, "text/javascript; charset=utf-8"),
        "demo.js" => (DEMO, "text/javascript; charset=utf-8"),
        "signed-out.js" => (SIGNED_OUT, "text/javascript; charset=utf-8"),
        "times.js" => (TIMES, "text/javascript; charset=utf-8"),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (
            header::CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=31536000, immutable"),
        ),
        (
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ),
        (
            http::HeaderName::from_static("cross-origin-resource-policy"),
            HeaderValue::from_static("same-origin"),
        ),
    ];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    #[test]
    fn finding_p16_the_pages_have_no_colours_of_their_own() {
        let own = include_str!("assets/portico.css");
        let colours: Vec<&str> = own
            .lines()
            .filter(|line| {
                ["#", "rgb", "hsl", "oklch", "light-dark("]
                    .iter()
                    .any(|sign| {
                        line.split_once(':')
                            .is_some_and(|(_, value)| value.contains(sign))
                    })
            })
            .collect();
        assert_eq!(
            colours,
            Vec::<&str>::new(),
            "use the tokens of style/tokens.css"
        );
    }

    #[test]
    fn finding_p16_every_token_in_use_is_one_of_the_panel() {
        let tokens = include_str!("../../../style/tokens.css");
        let own = include_str!("assets/portico.css");
        for used in own.split("var(").skip(1) {
            let name: String = used
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
                .collect();
            assert!(tokens.contains(&format!("{name}:")), "{name}");
        }
    }
}
