//! The protection of a cluster from deletion: whether it is on, and the controls that change it.
use crate::{
    api::cluster_care::{get_delete_protection, set_delete_protection},
    components::{Age, InlineError, NeedsScripts},
    error::UiError,
    pages::lifecycle::change::reason_field,
    ui::{Button, Card, Icon, SkeletonLines, Status, Tone, Why, icons},
};
use leptos::{children::ViewFn, prelude::*};
use portico_domain::panel::lifecycle::{DeleteProtection, Protected};
use std::future::Future;
use uuid::Uuid;

const PROTECT: &str = "Protect from deletion";
const REMOVE: &str = "Remove the protection";

/// What the card has read, and what it sends. `Copy`.
#[derive(Clone, Copy)]
struct State {
    cluster: Uuid,
    shown: RwSignal<Option<DeleteProtection>>,
    failure: RwSignal<Option<UiError>>,
    typed: RwSignal<String>,
    reason: RwSignal<String>,
    busy: RwSignal<bool>,
    /// Runs after a change.
    changed: Callback<()>,
}

impl State {
    fn read(self) {
        self.run(get_delete_protection(self.cluster), false);
    }

    fn set(self, is_on: bool) {
        let typed = self.typed.get_untracked().trim().to_owned();
        let reason = Some(self.reason.get_untracked());
        let asked = set_delete_protection(self.cluster, is_on, typed, reason);
        self.run(asked, true);
    }

    fn run(
        self,
        asked: impl Future<Output = Result<DeleteProtection, UiError>> + 'static,
        is_change: bool,
    ) {
        if self.busy.try_get_untracked() != Some(false) {
            return;
        }
        self.busy.set(true);
        self.failure.set(None);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page meanwhile
            let _ = self.busy.try_set(false);
            match answer {
                Ok(protection) => {
                    let _ = self.typed.try_set(String::new());
                    let _ = self.reason.try_set(String::new());
                    let _ = self.shown.try_set(Some(protection));
                    if is_change {
                        self.changed.try_run(());
                    }
                }
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }
}

/// Returns the card of the protection; `changed` runs after a change.
pub fn card(cluster: Uuid, changed: Callback<()>) -> AnyView {
    let notice = view! { <p>"This part of the page needs JavaScript."</p> }.into_any();
    view! {
        <div class="mt-4" data-part="protection">
            <Card title="Delete protection">
                <NeedsScripts
                    notice
                    console=ViewFn::from(move || view! { <Content cluster changed /> }.into_any())
                />
            </Card>
        </div>
    }
    .into_any()
}

#[component]
fn Content(cluster: Uuid, changed: Callback<()>) -> impl IntoView {
    let state = State {
        cluster,
        shown: RwSignal::new(None),
        failure: RwSignal::new(None),
        typed: RwSignal::new(String::new()),
        reason: RwSignal::new(String::new()),
        busy: RwSignal::new(false),
        changed,
    };
    state.read();
    let is_first_read = Memo::new(move |_| {
        state.shown.with(Option::is_none) && state.failure.with(Option::is_none)
    });
    let is_unread = Memo::new(move |_| {
        state.shown.with(Option::is_none) && state.failure.with(Option::is_some)
    });
    view! {
        <div class="grid grid-cols-1 gap-3">
            {move || is_first_read.get().then(|| view! { <SkeletonLines lines=2 /> })}
            {move || state.shown.get().map(|protection| content(state, protection))}
            {move || state.failure.get().map(|error| view! { <InlineError error /> })}
            {move || is_unread.get().then(|| view! {
                <div>
                    <Button
                        label="Try again"
                        icon=icons::REFRESH
                        busy=state.busy
                        on_click=move |_| state.read()
                    />
                </div>
            })}
        </div>
    }
    .into_any()
}

fn content(state: State, protection: DeleteProtection) -> AnyView {
    let is_on = protection.protected.is_some();
    let control = match (protection.refusal, is_on) {
        (Some(reason), _) => {
            let label = if is_on { REMOVE } else { PROTECT };
            view! {
                <div><Why id="protection-refusal" label reason action="protection" /></div>
            }
            .into_any()
        }
        (None, true) => removal(state, protection.cluster_name),
        (None, false) => view! {
            {reason_field("protection-reason", state.reason)}
            <div>
                <Button
                    label=PROTECT
                    icon=icons::LOCK
                    busy=state.busy
                    on_click=move |_| state.set(true)
                />
            </div>
        }
        .into_any(),
    };
    view! {
        <span class="flex flex-wrap items-center gap-2" role="status">
            {status(protection.protected)}
        </span>
        <p class="text-muted">{protection.note}</p>
        {control}
    }
    .into_any()
}

fn status(protected: Option<Protected>) -> AnyView {
    match protected {
        Some(Protected { since, by }) => view! {
            <Status tone=Tone::Ok text="Protected from deletion" />
            <span class="text-muted">"for " <Age at=Some(since) /> {format!(", set by {by}")}</span>
        }
        .into_any(),
        None => view! { <Status tone=Tone::Idle text="Not protected" /> }.into_any(),
    }
}

/// Returns the form that removes the protection after the name is typed.
fn removal(state: State, name: String) -> AnyView {
    let expected = name.clone();
    let is_confirmed = Memo::new(move |_| state.typed.with(|typed| typed.trim() == expected));
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if is_confirmed.get_untracked() {
            state.set(false);
        }
    };
    view! {
        <details class="fold">
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                {REMOVE}
            </summary>
            <form class="grid grid-cols-1 gap-3" on:submit=submit>
                <div class="field">
                    <label for="typed-protection">
                        "Type " <strong class="mono">{name}</strong> " to remove the protection"
                    </label>
                    <input
                        class="input"
                        id="typed-protection"
                        name="typed-protection"
                        required
                        autocomplete="off"
                        spellcheck="false"
                        prop:value=move || state.typed.get()
                        on:input=move |event| state.typed.set(event_target_value(&event))
                    />
                </div>
                {reason_field("protection-reason", state.reason)}
                <div>
                    <button
                        type="submit"
                        class="btn btn-danger"
                        disabled=move || !is_confirmed.get() || state.busy.get()
                    >
                        {REMOVE}
                    </button>
                </div>
            </form>
        </details>
    }
    .into_any()
}
