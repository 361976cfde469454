use crate::{
    api::objects::get_yaml,
    components::ErrorState,
    context::use_session,
    hooks::refresh_quietly,
    ui::{CodeBlock, SkeletonLines, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::ObjectRef;
use uuid::Uuid;

/// The object as it is stored, without managed fields.
#[component]
pub fn Yaml(cluster: Uuid, object: ObjectRef, changes: RwSignal<u32>) -> impl IntoView {
    let session = use_session();
    let asked = object.clone();
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_yaml(cluster, asked.clone()),
    );
    let outdated = RwSignal::new(false);
    Effect::new(move |known: Option<u32>| {
        let now = changes.get();
        if known.is_some_and(|known| known != now) {
            refresh_quietly(data, outdated, get_yaml(cluster, object.clone()));
        }
        now
    });
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <Suspense fallback=|| view! { <div class="card card-body"><SkeletonLines lines=8 /></div> }>
            {move || suspended(async move {
                match data.await {
                    Ok(text) => view! { <CodeBlock text what="YAML" tall=true /> }.into_any(),
                    Err(error) => view! {
                        <div class="card"><ErrorState error retry /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}
