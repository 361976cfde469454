use crate::{
    context::use_session,
    routes::{self, Tab},
    ui::{StateMessage, icons},
};
use leptos::prelude::*;
use portico_domain::{
    panel::{ObjectRef, ResourceRef},
    stream::LogQuery,
};
use uuid::Uuid;

/// In place of the lines of a container that has not started: the reason, and where to find more.
#[component]
pub fn NotStarted(
    cluster: Uuid,
    query: LogQuery,
    /// `None` while there is a log.
    reason: Memo<Option<String>>,
) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let pod = ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some(query.namespace),
        name: query.pod,
    };
    let events = routes::object_tab(&project, cluster, &pod, Tab::Events);
    let overview = routes::object(&project, cluster, &pod);
    let state = move |reason: String| {
        let (events, overview) = (events.clone(), overview.clone());
        view! {
            <StateMessage
                icon=icons::CLOCK
                title="No log yet"
                text=format!("{reason} The log appears here as soon as there is one.")
                state="not-started"
            >
                <a class="btn btn-primary" href=events>
                    "Events of the pod"
                </a>
                <a class="btn" href=overview>
                    "Overview of the pod"
                </a>
            </StateMessage>
        }
    };
    view! {
        // always in the page, so that screen readers notice the change
        <div role="status">{move || reason.get().map(&state)}</div>
    }
    .into_any()
}
