use crate::{
    error::{UiError, UiErrorKind},
    ui::{Banner, Tone},
};
use leptos::{prelude::*, server_fn::error::ServerFnUrlError};
use leptos_router::hooks::use_query_map;

/// What became of a form that was sent without scripts. Anybody can make a link to such an
/// address, so only the object's name comes from it; the sentences are ours.
#[component]
pub fn FormOutcome() -> impl IntoView {
    let query = use_query_map();
    move || {
        query.with(|query| {
            if let Some(error) = query.get_str("__err") {
                let error = ServerFnUrlError::<UiError>::decode_err(error);
                return view! {
                    <div class="mb-4">
                        <Banner tone=Tone::Bad alert=true>
                            {refusal(error.kind)}
                        </Banner>
                    </div>
                }
                .into_any();
            }
            let object = query.get_str("object").unwrap_or_default().to_owned();
            query
                .get_str("notice")
                .and_then(|notice| done(notice, &object))
                .map(|text| {
                    view! {
                        <div class="mb-4">
                            <Banner tone=Tone::Ok>{text}</Banner>
                        </div>
                    }
                })
                .into_any()
        })
    }
}

fn done(notice: &str, object: &str) -> Option<String> {
    match notice {
        "delete" => Some(format!("The cluster is deleting {object}.")),
        "scale" => Some(format!("{object} is being scaled.")),
        "restart" => Some(format!("{object} is being restarted.")),
        _ => None,
    }
}

fn refusal(kind: UiErrorKind) -> &'static str {
    match kind {
        UiErrorKind::SignedOut => "Nothing was changed: your session had ended.",
        UiErrorKind::NotPermitted => "Nothing was changed: your roles do not allow it.",
        UiErrorKind::NotFound => "Nothing was changed: the object does not exist any more.",
        UiErrorKind::Conflict => {
            "Nothing was changed: somebody else changed the object first. Look at it again."
        }
        UiErrorKind::Invalid => "Nothing was changed: what was sent was not valid.",
        UiErrorKind::Unavailable => "The cluster did not answer. Look whether it was changed.",
        UiErrorKind::Internal => "That did not work. Try again, or tell your administrators.",
    }
}
