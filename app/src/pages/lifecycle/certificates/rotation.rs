//! The rotation of the authorities: what it does, whether the driver can, and the typed name.
use crate::{
    api::lifecycle::rotate_ca,
    context::use_session,
    error::UiError,
    pages::lifecycle::change::{outcome, reason_field, typed_name},
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Card, Icon, Tone, Why, icons},
};
use leptos::prelude::*;
use leptos_router::{NavigateOptions, hooks::use_navigate};
use portico_domain::panel::lifecycle::ChangeOutcome;
use uuid::Uuid;

const BUTTON: &str = "Rotate authorities";

/// The form of a rotation.
#[derive(Clone)]
pub struct Form {
    cluster: Uuid,
    name: String,
    typed: RwSignal<String>,
    reason: RwSignal<String>,
    is_sending: RwSignal<bool>,
    answer: RwSignal<Option<Result<ChangeOutcome, UiError>>>,
}

impl Form {
    pub fn new(cluster: Uuid, name: String) -> Self {
        Self {
            cluster,
            name,
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

    /// Sends the rotation; `accepted` runs when Magnum has accepted it.
    fn send(&self, accepted: Callback<()>) {
        if !untrack(|| self.can_be_sent()) {
            return;
        }
        let (is_sending, answer) = (self.is_sending, self.answer);
        is_sending.set(true);
        answer.set(None);
        let typed = self.typed.get_untracked().trim().to_owned();
        let asked = rotate_ca(self.cluster, typed, Some(self.reason.get_untracked()));
        leptos::task::spawn_local(async move {
            let sent = asked.await;
            let is_accepted = sent == Ok(ChangeOutcome::Accepted);
            let _ = is_sending.try_set(false);
            let _ = answer.try_set(Some(sent));
            if is_accepted {
                accepted.try_run(());
            }
        });
    }
}

/// Returns the card with what a rotation does; with `refusal` it is not offered.
pub fn card(form: Form, effects: Vec<String>, refusal: Option<String>) -> AnyView {
    let effects = effects
        .into_iter()
        .map(|effect| view! { <li>{effect}</li> })
        .collect_view();
    let content = match refusal {
        Some(reason) => {
            let text = reason.clone();
            view! {
                <Banner tone=Tone::Info>{text}</Banner>
                <div>
                    <Why
                        id="rotate-refusal"
                        label=BUTTON
                        reason
                        action="rotate-ca"
                        class="btn btn-danger"
                    />
                </div>
            }
            .into_any()
        }
        None => confirmation(form),
    };
    view! {
        <div class="mt-4" data-part="rotation">
            <Card title="Rotate the authorities">
                <div class="grid grid-cols-1 gap-3">
                    <ul class="notes">{effects}</ul>
                    {content}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

fn confirmation(form: Form) -> AnyView {
    let project = use_session().project.get_untracked();
    let navigate = use_navigate();
    let (cluster, answer, is_sending) = (form.cluster, form.answer, form.is_sending);
    let progress = ManagedClustersPage::Cluster(cluster).address(&project);
    let accepted = Callback::new(move |()| navigate(&progress, NavigateOptions::default()));
    let field = typed_name(form.name.clone(), form.typed);
    let reason = reason_field("rotation-reason", form.reason);
    let of_submit = form.clone();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        of_submit.send(accepted);
    };
    view! {
        <form class="grid grid-cols-1 gap-3" on:submit=submit>
            {field}
            {reason}
            <div>
                <button type="submit" class="btn btn-danger" disabled=move || !form.can_be_sent()>
                    <Icon icon=icons::ROTATE />
                    {BUTTON}
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
