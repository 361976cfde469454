//! Which columns a list has: the API server's, usage, and labels; and the density of its rows. What
//! differs from the default is in the address, and is remembered in this browser: columns per kind.
use super::{
    page::ListPage,
    usage::{ListUsage, Measure},
};
use crate::{
    components::cell::CellKind,
    hooks::{LiveList, preferences},
    routes::ListState,
    ui::{Button, ButtonKind, Popover, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{Column, ResourceRef, label_selector};

/// Columns that the API server calls less important, and that are shown nevertheless.
const USEFUL: [(&str, &str); 2] = [("pods", "node"), ("nodes", "internal-ip")];
/// Where the choice of density is stored.
const DENSITY: &str = "portico-density";
const COMPACT: &str = "compact";

/// What a column shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Name,
    Namespace,
    /// A cell of the API server's Table, by its place.
    Cell(usize, CellKind),
    /// The value of a label.
    Label(String),
    /// The CPU or memory in use.
    Usage(Measure),
}

/// One column of a list's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownColumn {
    /// Its name in an address.
    pub key: String,
    pub title: String,
    pub description: String,
    pub content: Content,
    pub is_default: bool,
}

impl ShownColumn {
    pub fn is_usage(&self) -> bool {
        matches!(self.content, Content::Usage(_))
    }

    fn of_usage(measure: Measure) -> Self {
        let title = measure.title();
        Self {
            key: title.to_lowercase(),
            title: title.to_owned(),
            description: format!("{title} in use, against what was requested or is available"),
            content: Content::Usage(measure),
            is_default: true,
        }
    }
}

/// Returns all columns that a list can have, besides labels, in their order; those for usage only if
/// there is a source.
pub fn available(
    resource: &ResourceRef,
    columns: &[Column],
    namespaced: bool,
    with_usage: bool,
) -> Vec<ShownColumn> {
    let events = resource.is_events();
    let mut all = Vec::with_capacity(columns.len() + 1);
    for (index, column) in columns.iter().enumerate() {
        let kind = if events {
            CellKind::of_event(column)
        } else {
            CellKind::of(column, index)
        };
        let key = column.name.to_lowercase();
        let is_useful = USEFUL.contains(&(resource.plural.as_str(), key.as_str()));
        let is_name = kind == CellKind::Name;
        all.push(ShownColumn {
            is_default: column.priority == 0 || is_useful,
            title: column.name.clone(),
            description: column.description.clone(),
            content: if is_name {
                Content::Name
            } else {
                Content::Cell(index, kind)
            },
            key,
        });
        if is_name && namespaced {
            all.push(ShownColumn {
                key: "namespace".to_owned(),
                title: "Namespace".to_owned(),
                description: String::new(),
                content: Content::Namespace,
                is_default: true,
            });
        }
    }
    if with_usage {
        let is_age =
            |column: &ShownColumn| matches!(column.content, Content::Cell(_, CellKind::Age));
        let place = all.iter().position(is_age).unwrap_or(all.len());
        all.insert(place, ShownColumn::of_usage(Measure::Memory));
        all.insert(place, ShownColumn::of_usage(Measure::Cpu));
    }
    all
}

/// Returns the columns to show: the chosen ones, else the default ones.
pub fn shown(all: &[ShownColumn], state: &ListState) -> Vec<ShownColumn> {
    if state.columns.is_empty() {
        let one_namespace = state.namespaces.len() == 1;
        return all
            .iter()
            .filter(|column| column.is_default)
            .filter(|column| !(one_namespace && column.content == Content::Namespace))
            .cloned()
            .collect();
    }
    let is_chosen = |key: &str| state.columns.iter().any(|chosen| chosen == key);
    let labels = state.columns.iter().filter_map(|key| {
        let label = key.strip_prefix("label:")?;
        Some(ShownColumn {
            key: key.clone(),
            title: label.to_owned(),
            description: format!("The label {label}"),
            content: Content::Label(label.to_owned()),
            is_default: false,
        })
    });
    all.iter()
        .filter(|column| column.content == Content::Name || is_chosen(&column.key))
        .cloned()
        .chain(labels)
        .collect()
}

/// Shows or hides one column.
fn set_shown(all: &[ShownColumn], state: &mut ListState, key: &str, on: bool) {
    let mut keys: Vec<String> = if state.columns.is_empty() {
        default_keys(all)
    } else {
        std::mem::take(&mut state.columns)
    };
    keys.retain(|known| known != key);
    if on {
        keys.push(key.to_owned());
    }
    // in the order of the table, so that the same choice has the same address
    let place = |key: &String| {
        all.iter()
            .position(|column| column.key == *key)
            .unwrap_or(all.len())
    };
    keys.sort_by_key(place);
    state.columns = if keys == default_keys(all) {
        Vec::new()
    } else {
        keys
    };
}

fn default_keys(all: &[ShownColumn]) -> Vec<String> {
    all.iter()
        .filter(|column| column.is_default)
        .map(|column| column.key.clone())
        .collect()
}

/// Returns the place where the choice for a kind is stored.
fn preference(resource: &ResourceRef) -> String {
    format!("portico-columns:{}/{}", resource.group, resource.plural)
}

/// Applies the remembered choice of this kind, unless the address has one.
pub fn remember(page: ListPage) {
    let key = page.resource.with_value(preference);
    Effect::new(move |known: Option<Vec<String>>| {
        let columns = page.state.with(|state| state.columns.clone());
        match known {
            None if columns.is_empty() => {
                if let Some(stored) = preferences::stored(&key) {
                    page.change_columns(|state| {
                        state.columns = stored.split(',').map(str::to_owned).collect();
                    });
                }
            }
            Some(known) if known != columns => preferences::store(&key, &columns.join(",")),
            _ => {}
        }
        columns
    });
}

/// Applies the remembered density, unless the address has one.
pub fn remember_density(page: ListPage) {
    Effect::new(move |known: Option<bool>| {
        let compact = page.state.with(|state| state.compact);
        match known {
            None if !compact && preferences::stored(DENSITY).as_deref() == Some(COMPACT) => {
                page.change_columns(|state| state.compact = true);
            }
            Some(known) if known != compact => {
                preferences::store(DENSITY, if compact { COMPACT } else { "" });
            }
            _ => {}
        }
        compact
    });
}

#[component]
pub fn ColumnsMenu(
    page: ListPage,
    list: LiveList,
    usage: ListUsage,
    namespaced: bool,
) -> impl IntoView {
    let all = Memo::new(move |_| {
        let resource = page.resource.get_value();
        list.columns
            .with(|columns| available(&resource, columns, namespaced, usage.is_offered()))
    });
    let choose = move |key: &str, on: bool| {
        page.change_columns(|state| all.with_untracked(|all| set_shown(all, state, key, on)));
    };
    let option = move |key: String, title: String, is_fixed: bool| {
        let is_shown = {
            let key = key.clone();
            move || {
                page.state.with(|state| {
                    all.with(|all| shown(all, state).iter().any(|column| column.key == key))
                })
            }
        };
        view! {
            <label class="option">
                <input
                    type="checkbox"
                    disabled=is_fixed
                    prop:checked=is_shown
                    on:change=move |event| choose(&key, event_target_checked(&event))
                />
                <span>{title}</span>
            </label>
        }
        .into_any()
    };
    let options = move || {
        all.get()
            .into_iter()
            .map(|column| option(column.key, column.title, column.content == Content::Name))
            .collect_view()
    };
    let labels = move || {
        let chosen = page.state.with(|state| state.columns.clone());
        chosen
            .into_iter()
            .filter_map(|key| {
                let title = key.strip_prefix("label:")?.to_owned();
                Some(option(key, title, false))
            })
            .collect_view()
    };
    let label = RwSignal::new(String::new());
    let wrong = Memo::new(move |_| {
        label.with(|label| !label.is_empty() && label_selector::check_key(label).is_err())
    });
    let add = move || {
        let key = label.get_untracked().trim().to_owned();
        if !key.is_empty() && !wrong.get_untracked() {
            choose(&format!("label:{key}"), true);
            label.set(String::new());
        }
    };
    view! {
        <Popover
            id="list-columns"
            label="Columns"
            caption="Columns and density"
            icon=icons::COLUMNS
            icon_only=true
        >
            <div class="options" role="group" aria-label="Columns">{options} {labels}</div>
            <div class="popover-row">
                <input
                    class="input"
                    placeholder="Label key: app"
                    aria-label="Label as a column"
                    autocomplete="off"
                    spellcheck="false"
                    aria-invalid=move || wrong.get().then_some("true")
                    prop:value=move || label.get()
                    on:input=move |event| label.set(event_target_value(&event))
                    on:keydown=move |event| {
                        if event.key() == "Enter" {
                            event.prevent_default();
                            add();
                        }
                    }
                />
                <Button label="Add" small=true on_click=move |_| add() />
            </div>
            <label class="option">
                <input
                    type="checkbox"
                    data-command="compact-rows"
                    data-command-label="Compact rows on or off"
                    prop:checked=move || page.state.with(|state| state.compact)
                    on:change=move |event| {
                        let compact = event_target_checked(&event);
                        page.change_columns(|state| state.compact = compact);
                    }
                />
                <span>"Compact rows"</span>
            </label>
            <Button
                label="Reset"
                small=true
                kind=ButtonKind::Quiet
                on_click=move |_| {
                    page.change_columns(|state| {
                        state.columns.clear();
                        state.compact = false;
                    });
                }
            />
        </Popover>
    }
    .into_any()
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
