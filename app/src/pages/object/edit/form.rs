//! The form: its fields, what saving would change, and the save.
use super::{
    draft::{Draft, Edits},
    fields::{Fields, Group},
    rebase::{Rebased, rebase},
    review,
};
use crate::{
    api::manifests::{get_edit_form, get_form_text, plan_edit, save_edit},
    components::{ErrorState, InlineError, use_toasts},
    context::use_session,
    error::{UiError, UiErrorKind},
    operations::{Activity, use_operations},
    routes,
    ui::{Banner, Button, ButtonKind, Card, SkeletonLines, Tone, icons},
};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::{EditForm, EditText, ObjectRef, PlannedDocument, edit_command};
use uuid::Uuid;

/// The edits of a form that was outdated or that an earlier page has left, to be repeated on the newest
/// version.
type Unsaved = StoredValue<Option<Edits>>;

/// Reads the fields once: a change of the object must not replace what the user writes.
#[component]
pub fn FormEdit(
    cluster: Uuid,
    object: ObjectRef,
    /// The key of unsaved edits, if they may be stored.
    draft: Option<String>,
) -> impl IntoView {
    let asked = object.clone();
    let data = LocalResource::new(move || get_edit_form(cluster, asked.clone()));
    let retry = Callback::new(move |()| data.refetch());
    let unsaved = Unsaved::new(None);
    view! {
        <Suspense fallback=|| view! { <div class="card card-body"><SkeletonLines lines=8 /></div> }>
            {move || {
                let (object, draft) = (object.clone(), draft.clone());
                Suspend::new(async move {
                    match data.await {
                        Ok(form) => view! {
                            <Form cluster object form draft unsaved retry />
                        }
                        .into_any(),
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
fn Form(
    cluster: Uuid,
    object: ObjectRef,
    form: EditForm,
    draft: Option<String>,
    unsaved: Unsaved,
    retry: Callback<()>,
) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let page = routes::object(&project, cluster, &object);
    let object = StoredValue::new(object);
    let version = StoredValue::new(form.version.clone());
    let plan = RwSignal::new(None::<PlannedDocument>);
    let pending = StoredValue::new(None::<EditText>);
    let failure = RwSignal::new(None::<UiError>);
    let busy = RwSignal::new(false);
    let rebased = unsaved.with_value(|unsaved| {
        let (before, edits) = unsaved.as_ref()?;
        Some(rebase(before, &form, edits))
    });
    let draft = Draft::open(draft, &form);
    let before = StoredValue::new(form.clone());
    let edited = StoredValue::new(None::<Fields>);
    let fields = Fields::new(
        &form.groups,
        rebased.as_ref().map_or(&[], |rebased| &rebased.edits),
        Callback::new(move |()| {
            plan.set(None);
            failure.set(None);
            if let Some(fields) = edited.get_value() {
                before.with_value(|before| draft.store(before, &fields.edits()));
            }
        }),
    );
    edited.set_value(Some(fields));
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
    let (navigate, toasts, operations) = (use_navigate(), use_toasts(), use_operations());
    let saved = Callback::new(move |()| {
        let Some(text) = pending.get_value().filter(|_| !busy.get_untracked()) else {
            return;
        };
        busy.set(true);
        failure.set(None);
        let (navigate, page) = (navigate.clone(), page.clone());
        let activity = Activity {
            title: object.with_value(|object| format!("Edit {}", object.name)),
            href: page.clone(),
            command: object.with_value(edit_command),
        };
        leptos::task::spawn_local(async move {
            let answer = save_edit(cluster, object.get_value(), text).await;
            let message = answer.as_ref().map(|done| done.message.as_str());
            operations.record(activity, message);
            let _ = busy.try_set(false);
            match answer {
                Ok(done) => {
                    draft.clear();
                    toasts.done(cluster, done);
                    navigate(&page, NavigateOptions::default());
                }
                Err(error) => {
                    let _ = failure.try_set(Some(error));
                }
            }
        });
    });
    let restore = Callback::new(move |edits: Edits| {
        unsaved.set_value(Some(edits));
        retry.run(());
    });
    let repeat = Callback::new(move |()| {
        restore.run((before.get_value(), fields.edits()));
    });
    // those that were restored need not be offered
    let offer = rebased.is_none().then(|| draft.offer(restore));
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
                        label="Repeat my changes on the newest version"
                        icon=icons::REFRESH
                        on_click=move |_| repeat.run(())
                    />
                }
            });
            view! { <div class="editor-failure"><InlineError error />{outdated}</div> }
        })
    };
    view! {
        <form on:submit=check>
            <Card title="Edit">
                {rebased.map(outcome)}
                {offer}
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

/// Returns which edits were repeated on the newest version, and which could not be.
fn outcome(rebased: Rebased) -> AnyView {
    let repeated = (!rebased.edits.is_empty())
        .then_some("Your changes were repeated on the newest version. Review them again. ");
    let is_complete = rebased.gone.is_empty();
    let gone = (!is_complete).then(|| {
        let fields = rebased.gone.join(", ");
        format!("Not repeated, because the newest version does not have the fields: {fields}.")
    });
    let tone = if is_complete { Tone::Info } else { Tone::Warn };
    view! { <Banner tone alert=true>{repeated}{gone}</Banner> }.into_any()
}
