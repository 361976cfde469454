//! The form: its fields, what saving would change, and the save.
use super::{
    fields::{Fields, Group},
    review,
};
use crate::{
    api::manifests::{get_edit_form, get_form_text, plan_edit, save_edit},
    components::{ErrorState, InlineError, use_toasts},
    context::use_session,
    error::{UiError, UiErrorKind},
    routes,
    ui::{Button, ButtonKind, Card, SkeletonLines, icons},
};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::{EditForm, EditText, ObjectRef, PlannedDocument};
use uuid::Uuid;

/// Reads the fields once: a change of the object must not replace what the user writes.
#[component]
pub fn FormEdit(cluster: Uuid, object: ObjectRef) -> impl IntoView {
    let asked = object.clone();
    let data = LocalResource::new(move || get_edit_form(cluster, asked.clone()));
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <Suspense fallback=|| view! { <div class="card card-body"><SkeletonLines lines=8 /></div> }>
            {move || {
                let object = object.clone();
                Suspend::new(async move {
                    match data.await {
                        Ok(form) => view! { <Form cluster object form retry /> }.into_any(),
                        Err(error) => view! {
                            <div class="card"><ErrorState error retry /></div>
                        }
                        .into_any(),
                    }
                })
            }}
        </Suspense>
    }
    .into_any()
}

#[component]
fn Form(cluster: Uuid, object: ObjectRef, form: EditForm, retry: Callback<()>) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let page = routes::object(&project, cluster, &object);
    let object = StoredValue::new(object);
    let version = StoredValue::new(form.version);
    let plan = RwSignal::new(None::<PlannedDocument>);
    let pending = StoredValue::new(None::<EditText>);
    let failure = RwSignal::new(None::<UiError>);
    let busy = RwSignal::new(false);
    let fields = Fields::new(
        &form.groups,
        Callback::new(move |()| {
            plan.set(None);
            failure.set(None);
        }),
    );
    let check = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        failure.set(None);
        plan.set(None);
        let text = get_form_text(
            cluster,
            object.get_value(),
            version.get_value(),
            fields.edits(),
        );
        leptos::task::spawn_local(async move {
            let answer = async {
                let text = text.await?;
                let planned = plan_edit(cluster, object.get_value(), text.clone()).await?;
                Ok::<_, UiError>((text, planned))
            };
            let answer = answer.await;
            let _ = busy.try_set(false);
            match answer {
                Ok((text, planned)) => {
                    pending.try_set_value(Some(text));
                    let _ = plan.try_set(Some(planned));
                }
                Err(error) => {
                    let _ = failure.try_set(Some(error));
                }
            }
        });
    };
    let (navigate, toasts) = (use_navigate(), use_toasts());
    let saved = Callback::new(move |()| {
        let Some(text) = pending.get_value().filter(|_| !busy.get_untracked()) else {
            return;
        };
        busy.set(true);
        failure.set(None);
        let (navigate, page) = (navigate.clone(), page.clone());
        leptos::task::spawn_local(async move {
            let answer = save_edit(cluster, object.get_value(), text).await;
            let _ = busy.try_set(false);
            match answer {
                Ok(done) => {
                    toasts.done(cluster, done);
                    navigate(&page, NavigateOptions::default());
                }
                Err(error) => {
                    let _ = failure.try_set(Some(error));
                }
            }
        });
    });
    let groups = form
        .groups
        .into_iter()
        .map(|group| view! { <Group group fields /> })
        .collect_view();
    let failed = move || {
        failure.get().map(|error| {
            let outdated = (error.kind == UiErrorKind::Conflict).then(|| {
                view! {
                    <Button
                        label="Load the newest version"
                        icon=icons::REFRESH
                        on_click=move |_| retry.run(())
                    />
                }
            });
            view! { <div class="editor-failure"><InlineError error />{outdated}</div> }
        })
    };
    view! {
        <form on:submit=check>
            <Card title="Edit">
                <div class="form-groups">{groups}</div>
                <div class="editor-foot">
                    <Button label="Review changes" kind=ButtonKind::Primary submit=true busy />
                    <span class="text-muted">"Nothing is changed before you save."</span>
                </div>
                {failed}
            </Card>
        </form>
        {move || plan.get().map(|plan| review(plan, busy, saved))}
    }
    .into_any()
}
