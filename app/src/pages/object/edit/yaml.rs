//! Editing of the object's YAML.
use super::review;
use crate::{
    api::manifests::{get_edit_text, plan_edit, rebase_edit, save_edit},
    components::{ErrorState, InlineError, ManifestEditor, use_toasts},
    context::use_session,
    error::{UiError, UiErrorKind},
    hooks::editor::Editor,
    operations::{Activity, use_operations},
    routes,
    ui::{Banner, Button, ButtonKind, Card, SkeletonLines, Tone, icons},
};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::{EditText, ObjectRef, PlannedDocument, edit_command};
use uuid::Uuid;

/// Reads the text once: a change of the object must not replace what the user writes.
#[component]
pub fn YamlEdit(
    cluster: Uuid,
    object: ObjectRef,
    /// The key of an unsaved text, if it may be stored.
    draft: Option<String>,
) -> impl IntoView {
    let asked = object.clone();
    let data = LocalResource::new(move || get_edit_text(cluster, asked.clone()));
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <Suspense fallback=|| view! { <div class="card card-body"><SkeletonLines lines=8 /></div> }>
            {move || {
                let (object, draft) = (object.clone(), draft.clone());
                Suspend::new(async move {
                    match data.await {
                        Ok(read) => view! { <Form cluster object read draft /> }.into_any(),
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

/// The state of an edit. `Copy`.
#[derive(Clone, Copy)]
struct Edited {
    cluster: Uuid,
    object: StoredValue<ObjectRef>,
    /// The text and the version that the edit started from.
    base: RwSignal<EditText>,
    plan: RwSignal<Option<PlannedDocument>>,
    failure: RwSignal<Option<UiError>>,
    /// The outcome of a repetition on a newer version.
    note: RwSignal<Option<&'static str>>,
    busy: RwSignal<bool>,
}

impl Edited {
    fn changed(self) {
        self.plan.set(None);
        self.failure.set(None);
    }

    fn text(self) -> EditText {
        EditText {
            text: Editor.text(),
            version: self.base.with_untracked(|base| base.version.clone()),
        }
    }

    /// Runs a request; its failure is shown beside the editor, whose text stays.
    fn run<T: 'static>(
        self,
        asked: impl Future<Output = Result<T, UiError>> + 'static,
        done: impl FnOnce(T) + 'static,
    ) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.failure.set(None);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = self.busy.try_set(false);
            match answer {
                Ok(answer) => done(answer),
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }

    fn review(self) {
        let asked = plan_edit(self.cluster, self.object.get_value(), self.text());
        self.run(asked, move |plan| {
            Editor.show_problems(&plan.problems);
            let _ = self.plan.try_set(Some(plan));
        });
    }

    /// Repeats the edit of an earlier visit on the version that was read now. Otherwise saving it would
    /// take back what others have changed in between.
    fn restored(self) {
        let is_current = self.base.with_untracked(|base| base.text == Editor.base());
        if !is_current {
            self.rebase();
        }
    }

    /// Loads the newest version and repeats the edit on it.
    fn rebase(self) {
        let asked = rebase_edit(
            self.cluster,
            self.object.get_value(),
            Editor.base(),
            Editor.text(),
        );
        self.run(asked, move |rebased| {
            let (text, note) = match rebased.text {
                Some(text) => (
                    text,
                    "Your changes were repeated on the newest version. Review them again.",
                ),
                None => (
                    rebased.newest.text.clone(),
                    "Your changes do not fit the newest version, which is shown now. Undo (Ctrl-Z) brings your text back.",
                ),
            };
            let _ = self.plan.try_set(None);
            let _ = self.note.try_set(Some(note));
            Editor.set_base(&rebased.newest.text);
            let _ = self.base.try_set(rebased.newest);
            Editor.replace_text(&text);
        });
    }
}

#[component]
fn Form(cluster: Uuid, object: ObjectRef, read: EditText, draft: Option<String>) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let page = routes::object(&project, cluster, &object);
    let text = RwSignal::new(read.text.clone());
    let edited = Edited {
        cluster,
        object: StoredValue::new(object),
        base: RwSignal::new(read),
        plan: RwSignal::new(None),
        failure: RwSignal::new(None),
        note: RwSignal::new(None),
        busy: RwSignal::new(false),
    };
    let (navigate, toasts, operations) = (use_navigate(), use_toasts(), use_operations());
    let saved = Callback::new(move |()| {
        let asked = save_edit(cluster, edited.object.get_value(), edited.text());
        let (navigate, page) = (navigate.clone(), page.clone());
        let activity = Activity {
            title: edited
                .object
                .with_value(|object| format!("Edit {}", object.name)),
            href: page.clone(),
            command: edited.object.with_value(edit_command),
        };
        let recorded = async move {
            let answer = asked.await;
            let message = answer.as_ref().map(|done| done.message.as_str());
            operations.record(activity, message);
            answer
        };
        edited.run(recorded, move |done| {
            Editor.clear_draft();
            toasts.done(cluster, done);
            navigate(&page, NavigateOptions::default());
        });
    });
    let failure = move || {
        edited.failure.get().map(|error| {
            let outdated = (error.kind == UiErrorKind::Conflict).then(|| {
                view! {
                    <Button
                        label="Repeat my changes on the newest version"
                        icon=icons::REFRESH
                        busy=edited.busy
                        on_click=move |_| edited.rebase()
                    />
                }
            });
            view! { <div class="editor-failure"><InlineError error />{outdated}</div> }
        })
    };
    view! {
        <Card title="Edit YAML">
            {move || edited.note.get().map(|note| view! {
                <Banner tone=Tone::Info alert=true>{note}</Banner>
            })}
            <ManifestEditor
                cluster
                label="YAML of the object"
                draft
                text
                on_input=Callback::new(move |()| edited.changed())
                on_restore=Callback::new(move |()| edited.restored())
            />
            <div class="editor-foot">
                <Button
                    label="Review changes"
                    kind=ButtonKind::Primary
                    busy=edited.busy
                    on_click=move |_| edited.review()
                />
                <span class="text-muted">
                    "Nothing is changed before you save. Status and fields of the API server are left out."
                </span>
            </div>
            {failure}
        </Card>
        {move || edited.plan.get().map(|plan| review(plan, edited.busy, saved))}
    }
    .into_any()
}
