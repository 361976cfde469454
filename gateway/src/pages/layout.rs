//! The layout of every page of the gateway itself.
use std::sync::LazyLock;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    assets::{Asset, ICON},
    theme::Theme,
};
use crate::http::security_headers::harden;

/// A page, before it becomes a response.
pub(crate) struct Page {
    title: String,
    status: StatusCode,
    script: Option<Asset>,
    form_targets: Vec<String>,
    referrer: &'static str,
    wide: bool,
    body: Markup,
}

/// The panel's logo, in the colour of the text around it.
static LOGO: LazyLock<String> = LazyLock::new(|| {
    ICON.trim().replace(
        "stroke=\"#4a63dd\"",
        "stroke=\"currentColor\" aria-hidden=\"true\"",
    )
});

impl Page {
    pub fn new(title: impl Into<String>, body: Markup) -> Self {
        Self {
            title: title.into(),
            status: StatusCode::OK,
            script: None,
            form_targets: Vec::new(),
            // not "no-referrer": browsers would then send "Origin: null" with Portico's own
            // forms
            referrer: "same-origin",
            wide: false,
            body,
        }
    }

    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    pub fn script(mut self, script: Asset) -> Self {
        self.script = Some(script);
        self
    }

    /// Makes the page wider, for a list.
    pub fn wide(mut self) -> Self {
        self.wide = true;
        self
    }

    /// Permits the page's forms to submit or redirect to another origin.
    pub fn form_may_reach(mut self, target: impl Into<String>) -> Self {
        self.form_targets.push(target.into());
        self
    }

    /// Sends the page's origin to a form target on another origin.
    pub fn shows_origin(mut self) -> Self {
        self.referrer = "strict-origin";
        self
    }

    fn policy(&self) -> String {
        let mut policy = String::from(
            "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; \
             frame-ancestors 'none'; form-action 'self'",
        );
        for target in &self.form_targets {
            policy.push(' ');
            policy.push_str(target);
        }
        if self.script.is_some() {
            policy.push_str("; script-src 'self'; connect-src 'self'");
        }
        policy
    }

    /// Returns what a snapshot of the page has: status, title and content, without the document around
    /// them.
    #[cfg(test)]
    pub fn snapshot(&self) -> String {
        let content = portico_testkit::html_lines(&self.body.0);
        format!("{}\n{}\n\n{content}", self.status, self.title)
    }

    fn html(&self) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" data-theme=[Theme::current().name()] {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="robots" content="noindex";
                    title { (self.title) " · Portico" }
                    link rel="icon" type="image/svg+xml" href=(Asset::Icon.href());
                    link rel="stylesheet" href=(Asset::Style.href());
                    @if let Some(script) = self.script {
                        script type="module" src=(script.href()) {}
                    }
                }
                body {
                    header.topbar { p.brand { (PreEscaped(LOGO.as_str())) "Portico" } }
                    main.wide[self.wide] {
                        div.card { (self.body) }
                    }
                }
            }
        }
    }
}

impl IntoResponse for Page {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.html().into_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        );
        if let Ok(policy) = HeaderValue::try_from(self.policy()) {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        headers.insert(
            header::REFERRER_POLICY,
            HeaderValue::from_static(self.referrer),
        );
        harden(headers);
        response
    }
}

/// Returns a highlighted note: `kind` is one of the style sheet's `info`, `warn`, `bad` and `good`.
pub(crate) fn note(kind: &str, text: &Markup) -> Markup {
    let role = if kind == "bad" { "alert" } else { "status" };
    html! {
        div class={ "note " (kind) } role=(role) {
            (PreEscaped(note_icon(kind)))
            div { (text) }
        }
    }
}

/// Returns the panel's icon for a note of the kind: each has a shape of its own.
fn note_icon(kind: &str) -> String {
    let paths = match kind {
        "good" => r#"<circle cx="12" cy="12" r="10"/><path d="m9 12 2 2 4-4"/>"#,
        "warn" => {
            r#"<path d="m21.73 18-8-14a2 2 0 0 0-3.48 0l-8 14A2 2 0 0 0 4 21h16a2 2 0 0 0 1.73-3"/><path d="M12 9v4"/><path d="M12 17h.01"/>"#
        }
        "bad" => {
            r#"<path d="m15 9-6 6"/><path d="m9 9 6 6"/><path d="M2.586 16.726A2 2 0 0 1 2 15.312V8.688a2 2 0 0 1 .586-1.414l4.688-4.688A2 2 0 0 1 8.688 2h6.624a2 2 0 0 1 1.414.586l4.688 4.688A2 2 0 0 1 22 8.688v6.624a2 2 0 0 1-.586 1.414l-4.688 4.688a2 2 0 0 1-1.414.586H8.688a2 2 0 0 1-1.414-.586z"/>"#
        }
        _ => r#"<circle cx="12" cy="12" r="10"/><path d="M12 16v-4"/><path d="M12 8h.01"/>"#,
    };
    format!(
        r#"<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">{paths}</svg>"#
    )
}

/// Returns a line with the request ID to look up in the log; nothing without an ID.
pub(crate) fn request_line(request_id: &str) -> Markup {
    html! {
        @if !request_id.is_empty() { p.hint { "Request " code { (request_id) } } }
    }
}

/// Returns a hidden field.
pub(crate) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}
