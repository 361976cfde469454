use super::{Icon, icons};
use leptos::{ev::MouseEvent, prelude::*};

/// How much a button stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ButtonKind {
    Plain,
    Primary,
    Danger,
    Quiet,
}

impl ButtonKind {
    pub fn class(self) -> &'static str {
        match self {
            Self::Plain => "btn",
            Self::Primary => "btn btn-primary",
            Self::Danger => "btn btn-danger",
            Self::Quiet => "btn btn-quiet",
        }
    }
}

/// A button. With a `label` and `icon_only` the label is for screen readers and as a tooltip.
#[component]
pub fn Button(
    #[prop(into)] label: Signal<String>,
    #[prop(default = ButtonKind::Plain)] kind: ButtonKind,
    #[prop(optional)] icon: Option<icondata_core::Icon>,
    #[prop(optional)] icon_only: bool,
    #[prop(optional)] small: bool,
    #[prop(optional)] submit: bool,
    /// Busy buttons keep their focus and ignore clicks.
    #[prop(into, optional)]
    busy: Signal<bool>,
    #[prop(into, optional)] on_click: Option<Callback<MouseEvent>>,
) -> impl IntoView {
    let mut class = kind.class().to_owned();
    if small {
        class.push_str(" btn-small");
    }
    if icon_only {
        class.push_str(" btn-icon");
    }
    view! {
        <button
            type=if submit { "submit" } else { "button" }
            class=class
            title=icon_only.then_some(move || label.get())
            aria-disabled=move || busy.get().then_some("true")
            on:click=move |event| {
                if busy.get_untracked() {
                    event.prevent_default();
                } else if let Some(on_click) = on_click {
                    on_click.run(event);
                }
            }
        >
            {icon.map(|icon| view! { <Icon icon /> })}
            <span class=if icon_only { "visually-hidden" } else { "btn-label" }>
                {move || label.get()}
            </span>
        </button>
    }
    .into_any()
}

/// A control that is shown but disabled, with the reason: read out, and shown on hover and focus.
#[component]
pub fn Why(
    /// The ID of the reason's element; unique on the page.
    #[prop(into)]
    id: String,
    #[prop(into)] label: String,
    #[prop(into)] reason: String,
    /// The control's action, for tests and styles.
    #[prop(optional)]
    action: &'static str,
    #[prop(default = "btn")] class: &'static str,
    /// The address of the page that shows who can do it.
    #[prop(optional_no_strip)]
    who_can: Option<String>,
) -> impl IntoView {
    let who_can = who_can.map(|href| view! { " "<a href=href>"Who can?"</a> });
    view! {
        <span class="why">
            <button
                type="button"
                class=class
                aria-disabled="true"
                aria-describedby=id.clone()
                data-action=action
            >
                <Icon icon=icons::LOCK />
                <span>{label}</span>
            </button>
            <span class="why-text">
                <span id=id role="tooltip">{reason}</span>
                {who_can}
            </span>
        </span>
    }
    .into_any()
}
