//! Short messages about the last action, with an undo where there is one.
use super::refusal::who_can_link;
use crate::{
    api::access::undo_change,
    error::UiError,
    ui::{Button, ButtonKind, Icon, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{ChangeDone, RightQuestion};
use std::time::Duration;
use uuid::Uuid;

/// A change that can still be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoOffer {
    pub cluster: Uuid,
    pub undo: String,
}

#[derive(Clone, Debug)]
struct Toast {
    id: u32,
    tone: Tone,
    message: String,
    undo: Option<UndoOffer>,
    missing: Option<Box<RightQuestion>>,
    seconds_left: ArcRwSignal<u32>,
}

/// The messages of this tab. `Copy`, found in the context.
#[derive(Clone, Copy)]
pub struct Toasts {
    list: RwSignal<Vec<Toast>>,
    last_id: StoredValue<u32>,
    /// Incremented with every change, so that pages load their data again.
    pub changes: RwSignal<u32>,
}

pub fn provide_toasts() {
    provide_context(Toasts {
        list: RwSignal::new(Vec::new()),
        last_id: StoredValue::new(0),
        changes: RwSignal::new(0),
    });
}

pub fn use_toasts() -> Toasts {
    expect_context()
}

impl Toasts {
    /// Reports a change; offers to undo it for ten seconds.
    pub fn done(self, cluster: Uuid, done: ChangeDone) {
        let undo = done.undo.map(|undo| UndoOffer { cluster, undo });
        let seconds = if undo.is_some() { 10 } else { 6 };
        self.add(Tone::Ok, done.message, undo, None, seconds);
        self.changes.update(|changes| *changes += 1);
    }

    /// Confirms something that changed nothing.
    pub fn say(self, message: String) {
        self.add(Tone::Ok, message, None, None, 6);
    }

    /// Reports a failure away from the pointer.
    pub fn failed(self, error: &UiError) {
        let text = match &error.next_step {
            Some(step) => format!("{} {step}", error.message),
            None => error.message.clone(),
        };
        self.add(Tone::Bad, text, None, error.missing.clone(), 12);
    }

    fn add(
        self,
        tone: Tone,
        message: String,
        undo: Option<UndoOffer>,
        missing: Option<Box<RightQuestion>>,
        seconds: u32,
    ) {
        let id = self.last_id.try_update_value(|id| {
            *id += 1;
            *id
        });
        let toast = Toast {
            id: id.unwrap_or_default(),
            tone,
            message,
            undo,
            missing,
            seconds_left: ArcRwSignal::new(seconds),
        };
        self.count_down(toast.id, toast.seconds_left.clone());
        self.list.update(|list| list.push(toast));
    }

    fn count_down(self, id: u32, left: ArcRwSignal<u32>) {
        set_timeout(
            move || {
                if left.get_untracked() <= 1 {
                    self.dismiss(id);
                } else {
                    left.update(|left| *left -= 1);
                    self.count_down(id, left);
                }
            },
            Duration::from_secs(1),
        );
    }

    fn dismiss(self, id: u32) {
        self.list
            .try_update(|list| list.retain(|toast| toast.id != id));
    }

    fn undo(self, id: u32, offer: UndoOffer) {
        self.dismiss(id);
        leptos::task::spawn_local(async move {
            match undo_change(offer.cluster, offer.undo).await {
                Ok(done) => self.done(offer.cluster, done),
                Err(error) => self.failed(&error),
            }
        });
    }
}

/// The place of the messages; always in the page, so that screen readers notice them.
#[component]
pub fn ToastRegion() -> impl IntoView {
    let toasts = use_toasts();
    view! {
        <div class="toasts" role="status" aria-live="polite">
            <For each=move || toasts.list.get() key=|toast| toast.id children=toast_view />
        </div>
    }
    .into_any()
}

fn toast_view(toast: Toast) -> AnyView {
    let toasts = use_toasts();
    let id = toast.id;
    let undo = toast.undo.map(|offer| {
        let left = toast.seconds_left;
        let label = Signal::derive(move || format!("Undo ({})", left.get()));
        view! {
            <Button
                label
                icon=icons::UNDO
                small=true
                on_click=move |_| toasts.undo(id, offer.clone())
            />
        }
    });
    view! {
        <div class="toast">
            <span class=format!("status {}", toast.tone.class())>
                <Icon icon=toast.tone.icon() />
            </span>
            <span class="flex-1">
                {toast.message} " " {who_can_link(toast.missing.as_deref())}
            </span>
            {undo}
            <Button
                label="Dismiss"
                icon=icons::CLOSE
                icon_only=true
                small=true
                kind=ButtonKind::Quiet
                on_click=move |_| toasts.dismiss(id)
            />
        </div>
    }
    .into_any()
}
