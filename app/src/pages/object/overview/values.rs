//! The values of a ConfigMap or a Secret. Those of a Secret are read when they are requested.
use crate::{
    api::objects::get_values,
    components::InlineError,
    error::UiError,
    ui::{Button, Card, CopyButton, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{DataValue, ObjectRef, ObjectView, ResourceRef};
use uuid::Uuid;

/// Returns the card with the values; nothing for other kinds.
pub fn view(object: &ObjectView, cluster: Uuid) -> AnyView {
    let resource = &object.reference.resource;
    let is_secret = *resource == ResourceRef::core("secrets");
    if !is_secret && *resource != ResourceRef::core("configmaps") {
        return ().into_any();
    }
    view! { <Values cluster object=object.reference.clone() is_secret /> }.into_any()
}

#[component]
fn Values(cluster: Uuid, object: ObjectRef, is_secret: bool) -> impl IntoView {
    let shown = RwSignal::new(None::<Vec<DataValue>>);
    let failure = RwSignal::new(None::<UiError>);
    let busy = RwSignal::new(false);
    let read = move || {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        let object = object.clone();
        leptos::task::spawn_local(async move {
            let answer = get_values(cluster, object).await;
            let _ = busy.try_set(false);
            match answer {
                Ok(values) => {
                    let _ = failure.try_set(None);
                    let _ = shown.try_set(Some(values));
                }
                Err(error) => {
                    let _ = failure.try_set(Some(error));
                }
            }
        });
    };
    if !is_secret {
        let read = read.clone();
        Effect::new(move |_| read());
    }
    let hidden = move || shown.with(Option::is_none);
    let reveal = is_secret.then(|| {
        view! {
            <Show
                when=hidden
                fallback=move || view! {
                    <Button label="Hide values" icon=icons::LOCK small=true on_click=move |_| shown.set(None) />
                }
            >
                {
                    let read = read.clone();
                    view! {
                        <Button label="Reveal values" icon=icons::KEY small=true busy on_click=move |_| read() />
                    }
                }
            </Show>
        }
        .into_any()
    });
    view! {
        <div class="mt-4" data-part="values">
            <Card title="Values" aside=reveal.into_any()>
                {move || failure.get().map(|error| view! { <InlineError error /> })}
                {move || match shown.get() {
                    Some(values) => list(values, is_secret),
                    None if is_secret => view! {
                        <p class="text-muted">
                            "The values are hidden. Revealing them is recorded in the audit log under your name."
                        </p>
                    }
                    .into_any(),
                    None => ().into_any(),
                }}
            </Card>
        </div>
    }
    .into_any()
}

fn list(values: Vec<DataValue>, is_secret: bool) -> AnyView {
    if values.is_empty() {
        return view! { <p class="text-muted">"It holds no values."</p> }.into_any();
    }
    let rows = values
        .into_iter()
        .map(|value| {
            let content = match value.text {
                Some(text) => view! {
                    <pre class="value" tabindex="0">{text.clone()}</pre>
                    <CopyButton text what=format!("value of {}", value.key) />
                }
                .into_any(),
                None => {
                    view! { <span class="text-muted">"Bytes that are not text"</span> }.into_any()
                }
            };
            view! {
                <div class="value-row">
                    <dt>
                        <span class="mono wrap-anywhere">{value.key}</span>
                        <span class="text-faint">{value.bytes}" bytes"</span>
                    </dt>
                    <dd>{content}</dd>
                </div>
            }
        })
        .collect_view();
    let class = if is_secret {
        "values is-secret"
    } else {
        "values"
    };
    view! { <dl class=class>{rows}</dl> }.into_any()
}
