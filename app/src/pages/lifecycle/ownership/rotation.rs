//! The typed name, and the button that rotates the credential.
use crate::{
    api::cluster_repairs::rotate_credential,
    context::use_session,
    error::UiError,
    pages::lifecycle::change::{outcome, reason_field, typed_name},
    ui::{Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::ChangeOutcome;
use uuid::Uuid;

/// The form of a rotation.
#[derive(Clone)]
pub struct Form {
    cluster: Uuid,
    name: String,
    button: &'static str,
    typed: RwSignal<String>,
    reason: RwSignal<String>,
    is_sending: RwSignal<bool>,
    answer: RwSignal<Option<Result<ChangeOutcome, UiError>>>,
}

impl Form {
    pub fn new(cluster: Uuid, name: String, button: &'static str) -> Self {
        Self {
            cluster,
            name,
            button,
            typed: RwSignal::new(String::new()),
            reason: RwSignal::new(String::new()),
            is_sending: RwSignal::new(false),
            answer: RwSignal::new(None),
        }
    }

    fn can_be_sent(&self) -> bool {
        let is_confirmed = self.typed.with(|typed| typed.trim() == self.name);
        is_confirmed && !self.is_sending.get()
    }

    /// Sends the rotation; `done` runs when Magnum has made the credential.
    fn send(&self, done: Callback<()>) {
        if !untrack(|| self.can_be_sent()) {
            return;
        }
        let (is_sending, answer) = (self.is_sending, self.answer);
        is_sending.set(true);
        answer.set(None);
        let typed = self.typed.get_untracked().trim().to_owned();
        let asked = rotate_credential(self.cluster, typed, self.reason.get_untracked());
        leptos::task::spawn_local(async move {
            let sent = asked.await;
            let is_accepted = sent == Ok(ChangeOutcome::Accepted);
            // the user may have left the page meanwhile
            let _ = is_sending.try_set(false);
            let _ = answer.try_set(Some(sent));
            if is_accepted {
                done.try_run(());
            }
        });
    }
}

/// Returns the form.
pub fn view(form: &Form, done: Callback<()>) -> AnyView {
    let project = use_session().project.get_untracked();
    let (cluster, answer, is_sending) = (form.cluster, form.answer, form.is_sending);
    let (of_submit, of_button, label) = (form.clone(), form.clone(), form.button);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        of_submit.send(done);
    };
    view! {
        <form class="grid grid-cols-1 gap-3" on:submit=submit>
            {typed_name(form.name.clone(), form.typed)}
            {reason_field("credential-reason", form.reason)}
            <div>
                <button
                    type="submit"
                    class="btn btn-danger"
                    disabled=move || !of_button.can_be_sent()
                >
                    <Icon icon=icons::KEY />
                    {label}
                </button>
            </div>
            <p class="visually-hidden" role="status">
                {move || is_sending.get().then_some("The rotation is being sent.")}
            </p>
        </form>
        {move || answer.get().map(|answer| outcome(answer, cluster, &project))}
    }
    .into_any()
}
