//! In place of a terminal of a workload: its pods, each with a link to its terminal.
use crate::{
    api::objects::get_related,
    components::ErrorState,
    context::use_session,
    routes::{self, Tab},
    ui::{Card, SkeletonLines, StateMessage, Status, Tone, icons, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::ObjectRef;
use uuid::Uuid;

#[component]
pub fn ChoosePod(cluster: Uuid, object: ObjectRef) -> impl IntoView {
    let session = use_session();
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_related(cluster, object.clone()),
    );
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <Suspense fallback=|| view! { <div class="card card-body"><SkeletonLines lines=4 /></div> }>
            {move || suspended(async move {
                let pods = match data.await {
                    Ok(related) => related.pods.unwrap_or_default().pods,
                    Err(error) => {
                        return view! { <div class="card"><ErrorState error retry /></div> }.into_any();
                    }
                };
                if pods.is_empty() {
                    return view! {
                        <div class="card">
                            <StateMessage
                                icon=icons::TERMINAL
                                title="No pods"
                                text="A terminal runs in a pod, and there is none at the moment."
                                state="empty"
                            />
                        </div>
                    }
                    .into_any();
                }
                let project = session.project.get_untracked();
                let rows = pods
                    .into_iter()
                    .map(|pod| {
                        let href = routes::object_tab(&project, cluster, &pod.object, Tab::Terminal);
                        view! {
                            <li class="related-entry">
                                <a class="wrap-anywhere" href=href>{pod.object.name}</a>
                                <Status tone=Tone::from(pod.health) text=pod.status />
                            </li>
                        }
                    })
                    .collect_view();
                view! {
                    <Card title="Choose a pod">
                        <ul>{rows}</ul>
                    </Card>
                }
                .into_any()
            })}
        </Suspense>
    }
    .into_any()
}
