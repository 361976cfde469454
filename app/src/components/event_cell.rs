//! The cells of events.
use super::Age;
use crate::{routes, ui::Severity};
use leptos::prelude::*;
use portico_domain::panel::{ObjectRef, Row};
use uuid::Uuid;

/// A longer message is cut to a few lines until it is expanded.
const MAX_UNFOLDED_CHARS: usize = 160;

/// Returns the time of the last occurrence, and the number of occurrences.
pub fn last_seen(row: ArcRwSignal<Row>) -> AnyView {
    let at = Memo::new(move |_| {
        row.with(|row| {
            let event = row.event.as_ref()?;
            Some((event.last_seen, event.count))
        })
    });
    (move || at.get().map(|(at, count)| seen(at, count))).into_any()
}

/// Does the same for a single event.
pub fn seen(at: Option<i64>, count: i32) -> AnyView {
    view! {
        <Age at />
        {(count > 1).then(|| view! {
            <span class="text-faint" title=format!("{count} times")>
                " ×"{count}
                <span class="visually-hidden">" times"</span>
            </span>
        })}
    }
    .into_any()
}

/// Returns `Normal` in words only: nothing has to be done. A warning has its icon and colour.
pub fn event_type(kind: &str) -> AnyView {
    if kind == "Warning" {
        view! { <Severity text="Warning" /> }.into_any()
    } else {
        view! { <span class="text-muted">{kind.to_owned()}</span> }.into_any()
    }
}

/// Returns the object of an event: a link if the cluster serves its kind. `text` is the kind and
/// the name.
pub fn involved(
    text: &str,
    object: Option<ObjectRef>,
    namespace: Option<String>,
    project: &str,
    cluster: Uuid,
) -> AnyView {
    let (kind, name) = text.split_once(' ').unwrap_or(("", text));
    let name = match object {
        Some(object) => {
            let href = routes::object(project, cluster, &object);
            view! { <a href=href>{name.to_owned()}</a> }.into_any()
        }
        None => name.to_owned().into_any(),
    };
    view! {
        <span class="text-muted">{kind.to_owned()}" "</span>
        {name}
        {namespace.map(|namespace| view! {
            <span class="event-namespace">"in "{namespace}</span>
        })}
    }
    .into_any()
}

/// Returns the message, cut to a few lines at first.
pub fn message(text: String) -> AnyView {
    if text.chars().count() <= MAX_UNFOLDED_CHARS {
        return text.into_any();
    }
    view! {
        <details class="clamp">
            <summary>
                <span class="clamp-text">{text}</span>
                <span class="clamp-more" aria-hidden="true"></span>
            </summary>
        </details>
    }
    .into_any()
}
