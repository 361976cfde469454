use super::{Icon, icons};
use leptos::prelude::*;
use portico_domain::panel::Health;

/// The meaning of a colour. Never shown without an icon and words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Idle,
    Ok,
    Info,
    Warn,
    Bad,
}

impl Tone {
    pub fn class(self) -> &'static str {
        match self {
            Self::Idle => "",
            Self::Ok => "is-ok",
            Self::Info => "is-info",
            Self::Warn => "is-warn",
            Self::Bad => "is-bad",
        }
    }

    pub fn icon(self) -> icondata_core::Icon {
        match self {
            Self::Idle => icons::UNKNOWN,
            Self::Ok => icons::OK,
            Self::Info => icons::PROGRESS,
            Self::Warn => icons::WARNING,
            Self::Bad => icons::FAILED,
        }
    }
}

impl From<Health> for Tone {
    fn from(health: Health) -> Self {
        match health {
            Health::Ok => Self::Ok,
            Health::Progressing => Self::Info,
            Health::Warning => Self::Warn,
            Health::Failed => Self::Bad,
            Health::Unknown => Self::Idle,
        }
    }
}

/// A state in words, with an icon of its own shape and a colour.
#[component]
pub fn Status(tone: Tone, #[prop(into)] text: String) -> impl IntoView {
    view! {
        <span class=format!("status {}", tone.class())>
            <Icon icon=tone.icon() />
            <span>{text}</span>
        </span>
    }
    .into_any()
}

/// A short label.
#[component]
pub fn Badge(
    #[prop(default = Tone::Idle)] tone: Tone,
    #[prop(into)] text: String,
    #[prop(optional)] icon: Option<icondata_core::Icon>,
) -> impl IntoView {
    view! {
        <span class=format!("badge {}", tone.class())>
            {icon.map(|icon| view! { <Icon icon /> })}
            <span>{text}</span>
        </span>
    }
    .into_any()
}
