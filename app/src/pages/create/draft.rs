//! The state of the page: the manifests, what they would change, and what they changed.
use super::{form, outcome};
use crate::{
    api::manifests::{apply_manifests, plan_manifests},
    components::use_toasts,
    context::use_session,
    error::{UiError, UiErrorKind},
    hooks::editor::Editor,
    operations::{Activity, use_operations},
    routes,
};
use leptos::prelude::*;
use portico_domain::panel::{
    AppliedDocument, ChangeDone, Effect, ManifestProblem, PlannedDocument,
};
use std::collections::BTreeSet;
use uuid::Uuid;

/// `Copy`.
#[derive(Clone, Copy)]
pub struct Draft {
    pub cluster: Uuid,
    /// What the editor shows from outside: a sample, or what the form has written.
    pub text: RwSignal<String>,
    /// Where the values of the form are stored; `None` without a form.
    pub form_key: StoredValue<Option<String>>,
    /// Whether the form is shown instead of the editor.
    pub is_form: RwSignal<bool>,
    pub namespace: RwSignal<String>,
    /// `None` until the text was checked, and after each change of it.
    pub plan: RwSignal<Option<Vec<PlannedDocument>>>,
    pub take_over: RwSignal<BTreeSet<usize>>,
    pub applied: RwSignal<Option<Vec<AppliedDocument>>>,
    pub failure: RwSignal<Option<UiError>>,
    pub busy: RwSignal<bool>,
}

impl Draft {
    pub fn changed(self) {
        self.plan.set(None);
        self.failure.set(None);
        self.take_over.set(BTreeSet::new());
    }

    pub fn namespace(self) -> Option<String> {
        Some(self.namespace.get_untracked()).filter(|name| !name.is_empty())
    }

    /// Deletes the stored text and the stored values of the form.
    pub fn forget(self) {
        self.form_key.with_value(|key| {
            if let Some(key) = key {
                form::clear(key);
            }
        });
        Editor.clear_draft();
    }

    /// Returns the manifests: those of the form, or what the editor holds.
    pub fn manifests(self) -> String {
        if self.is_form.get_untracked() {
            self.text.get_untracked()
        } else {
            Editor.text()
        }
    }

    pub fn check(self) {
        if self.busy.get_untracked() {
            return;
        }
        self.changed();
        self.applied.set(None);
        self.busy.set(true);
        let asked = plan_manifests(self.cluster, self.manifests(), self.namespace());
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = self.busy.try_set(false);
            match answer {
                Ok(plan) => {
                    let problems: Vec<ManifestProblem> = plan
                        .iter()
                        .flat_map(|document| document.problems.clone())
                        .collect();
                    Editor.show_problems(&problems);
                    let _ = self.plan.try_set(Some(plan));
                }
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }

    pub fn apply(self) {
        if self.busy.get_untracked() {
            return;
        }
        self.failure.set(None);
        self.busy.set(true);
        let take_over = self.take_over.get_untracked().into_iter().collect();
        let asked = apply_manifests(self.cluster, self.manifests(), self.namespace(), take_over);
        let (toasts, operations) = (use_toasts(), use_operations());
        let activity = Activity {
            title: "Apply manifests".to_owned(),
            href: routes::create(
                &use_session().project.get_untracked(),
                self.cluster,
                None,
                "",
            ),
            command: "kubectl apply --server-side -f -".to_owned(),
        };
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = self.busy.try_set(false);
            match answer {
                Ok(applied) => {
                    let refused = applied.iter().any(|one| one.effect == Effect::Refused);
                    let message = outcome::summary(&applied);
                    if refused {
                        let error = UiError::new(UiErrorKind::Invalid, message);
                        operations.record(activity, Err(&error));
                    } else {
                        operations.record(activity, Ok(&message));
                        self.forget();
                        toasts.done(
                            self.cluster,
                            ChangeDone {
                                message,
                                undo: None,
                            },
                        );
                    }
                    let _ = self.plan.try_set(None);
                    let _ = self.applied.try_set(Some(applied));
                }
                Err(error) => {
                    operations.record(activity, Err(&error));
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }
}
