use crate::{
    api::FormNotice,
    error::UiErrorKind,
    ui::{Banner, Tone},
};
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

/// The outcome of a form that was sent without scripts. Anyone can make a link to such an address:
/// it names a kind of outcome only, and the object is that of the page.
#[component]
pub fn FormOutcome() -> impl IntoView {
    let query = use_query_map();
    let params = use_params_map();
    move || {
        let (error, notice) = query.with(|query| {
            (
                query.get_str("error").and_then(UiErrorKind::parse),
                query.get_str("notice").and_then(FormNotice::parse),
            )
        });
        let name = params.with(|params| params.get_str("name").map(str::to_owned));
        match (error, notice) {
            (Some(kind), _) => view! {
                <div class="mb-4">
                    <Banner tone=Tone::Bad alert=true>
                        {refusal(kind)}
                    </Banner>
                </div>
            }
            .into_any(),
            (None, Some(notice)) => view! {
                <div class="mb-4">
                    <Banner tone=Tone::Ok>{done(notice, name.as_deref())}</Banner>
                </div>
            }
            .into_any(),
            (None, None) => ().into_any(),
        }
    }
}

/// Returns the sentence of a notice; `name` is the one in the page's path.
fn done(notice: FormNotice, name: Option<&str>) -> String {
    let object = name.filter(|name| is_kubernetes_name(name)).unwrap_or("It");
    match notice {
        // shown on the list, whose path names no object
        FormNotice::Delete => "The cluster is deleting the object.".to_owned(),
        FormNotice::Scale => format!("{object} is being scaled."),
        FormNotice::Restart => format!("{object} is being restarted."),
        FormNotice::Change => format!("{object} was changed."),
    }
}

/// Returns whether a text is a DNS subdomain (RFC 1123), as the names of workloads are.
fn is_kubernetes_name(text: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &str| {
        let bytes = label.as_bytes();
        let ends = |byte: Option<&u8>| byte.is_some_and(|byte| alphanumeric(*byte));
        ends(bytes.first())
            && ends(bytes.last())
            && bytes
                .iter()
                .all(|byte| alphanumeric(*byte) || *byte == b'-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

fn refusal(kind: UiErrorKind) -> &'static str {
    match kind {
        UiErrorKind::SignedOut => "Nothing was changed: your session had ended.",
        UiErrorKind::NotPermitted => "Nothing was changed: your roles do not allow it.",
        UiErrorKind::NotFound => "Nothing was changed: the object does not exist any more.",
        UiErrorKind::Conflict => {
            "Nothing was changed: another user or controller changed the object first. Look at it again."
        }
        UiErrorKind::Invalid => "Nothing was changed: what was sent was not valid.",
        UiErrorKind::Unavailable => {
            "The cluster did not answer. Check whether the change was made."
        }
        UiErrorKind::Internal => "That did not work. Try again, or ask your administrators.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_s9_a_notice_names_the_object_of_the_route_or_nothing() {
        let text = done(FormNotice::Scale, Some("web-1.example"));
        assert_eq!(text, "web-1.example is being scaled.");
        for free in [
            "Your account is locked, call 0800 123",
            "web\u{202e}1",
            "Web",
            "-web",
            "web-",
            "a..b",
            "",
            "https://evil.example/",
            &"a".repeat(254),
        ] {
            assert_eq!(done(FormNotice::Scale, Some(free)), "It is being scaled.");
            assert_eq!(
                done(FormNotice::Restart, Some(free)),
                "It is being restarted."
            );
        }
        // the list's path names no object
        let deleted = done(FormNotice::Delete, Some("web"));
        assert_eq!(deleted, "The cluster is deleting the object.");
    }

    #[test]
    fn finding_s9_words_of_an_address_are_outcomes_or_nothing() {
        for kind in ["signed-out", "conflict", "internal"] {
            assert_eq!(
                UiErrorKind::parse(kind).map(UiErrorKind::as_str),
                Some(kind)
            );
        }
        assert_eq!(UiErrorKind::parse("You lost"), None);
        assert_eq!(FormNotice::parse("scaled <b>"), None);
        assert_eq!(FormNotice::parse("scale"), Some(FormNotice::Scale));
    }
}
