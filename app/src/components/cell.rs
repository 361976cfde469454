//! Rendering of one cell of a Table.
use super::Age;
use crate::ui::{Icon, Tone};
use leptos::prelude::*;
use portico_domain::panel::{Column, Health, Row};

/// The kind of a column's content, determined once for the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Name,
    Status,
    Age,
    Number,
    /// Words that may wrap.
    Long,
    Text,
    /// For events only.
    LastSeen,
    EventType,
    EventReason,
    Involved,
    EventMessage,
}

impl CellKind {
    pub fn of(column: &Column, index: usize) -> Self {
        match column.name.as_str() {
            _ if index == 0 => Self::Name,
            "Status" | "Phase" => Self::Status,
            "Age" | "Created At" => Self::Age,
            "Message" | "Images" | "Containers" | "Selector" | "Data" | "Hosts" | "Claim" => {
                Self::Long
            }
            _ if column.kind == "integer" || column.kind == "number" => Self::Number,
            _ => Self::Text,
        }
    }

    /// Returns the kind of a column in a list of events; the server defines these columns.
    pub fn of_event(column: &Column) -> Self {
        match column.name.as_str() {
            "Last seen" => Self::LastSeen,
            "Type" => Self::EventType,
            "Reason" => Self::EventReason,
            "Object" => Self::Involved,
            "Message" => Self::EventMessage,
            _ => Self::Text,
        }
    }

    pub fn is_of_event(self) -> bool {
        matches!(
            self,
            Self::LastSeen
                | Self::EventType
                | Self::EventReason
                | Self::Involved
                | Self::EventMessage
        )
    }

    pub fn class(self) -> &'static str {
        match self {
            Self::Name => "cell-name",
            Self::Long => "cell-text",
            Self::Involved => "event-object",
            Self::EventMessage => "event-message",
            Self::Status | Self::Age | Self::Number | Self::Text => "cell-short",
            Self::LastSeen | Self::EventType | Self::EventReason => "cell-short",
        }
    }
}

/// Returns the content of a cell; changes in place when its row does.
pub fn cell_view(row: ArcRwSignal<Row>, kind: CellKind, index: usize) -> AnyView {
    let text = {
        let row = row.clone();
        move || {
            let text = row.with(|row| row.cells.get(index).cloned().unwrap_or_default());
            // the API server's text for an empty cell
            if text == "<none>" {
                "–".to_owned()
            } else {
                text
            }
        }
    };
    match kind {
        CellKind::Age => {
            let at = Memo::new(move |_| row.with(|row| row.created_at));
            (move || match at.get() {
                Some(at) => view! { <Age at=Some(at) /> }.into_any(),
                None => text().into_any(),
            })
            .into_any()
        }
        CellKind::Status => {
            let health = Memo::new(move |_| row.with(|row| row.health.unwrap_or(Health::Unknown)));
            view! {
                <span class=move || format!("status {}", Tone::from(health.get()).class())>
                    {move || {
                        let icon = Tone::from(health.get()).icon();
                        view! { <Icon icon /> }
                    }}
                    <span>{text}</span>
                </span>
            }
            .into_any()
        }
        _ => text.into_any(),
    }
}
