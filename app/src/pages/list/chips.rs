//! The filters in force, each of which can be taken away.
use super::page::{ListPage, StateLink};
use crate::{
    routes::ListState,
    ui::{Icon, icons},
};
use leptos::prelude::*;

#[component]
pub fn FilterChips(
    page: ListPage,
    /// Whether the objects are in namespaces.
    namespaced: bool,
) -> impl IntoView {
    let active = Memo::new(move |_| {
        let mut active = page.state.with(filters);
        active.retain(|(name, _)| namespaced || *name != "namespace");
        active
    });
    move || {
        let active = active.get();
        if active.is_empty() {
            return ().into_any();
        }
        let chips = active
            .into_iter()
            .map(|(name, value)| {
                let label = format!("Remove the filter {name} {value}");
                let removed = value.clone();
                view! {
                    <li>
                        <StateLink
                            page
                            class="filter-chip"
                            label
                            change=move |state: &mut ListState| remove(state, name, &removed)
                        >
                            <span class="text-muted">{name}</span>
                            <span class="filter-value">{value}</span>
                            <Icon icon=icons::CLOSE />
                        </StateLink>
                    </li>
                }
            })
            .collect_view();
        view! {
            <ul class="filter-chips" aria-label="Active filters">
                {chips}
                <li>
                    <StateLink page class="btn btn-quiet btn-small" change=clear>
                        "Clear all"
                    </StateLink>
                </li>
            </ul>
        }
        .into_any()
    }
}

/// Removes every filter; the order, the columns, the density and whether logs are shown stay.
pub fn clear(state: &mut ListState) {
    *state = ListState {
        sort: std::mem::take(&mut state.sort),
        columns: std::mem::take(&mut state.columns),
        compact: state.compact,
        logs: state.logs,
        ..ListState::default()
    };
}

fn filters(state: &ListState) -> Vec<(&'static str, String)> {
    let one = |name, value: &String| (!value.trim().is_empty()).then(|| (name, value.clone()));
    state
        .namespaces
        .iter()
        .map(|namespace| ("namespace", namespace.clone()))
        .chain(one("search", &state.search))
        .chain(one("labels", &state.labels))
        .chain(one("fields", &state.fields))
        .chain(state.status.iter().map(|status| ("status", status.clone())))
        .collect()
}

fn remove(state: &mut ListState, name: &str, value: &str) {
    match name {
        "namespace" => state.namespaces.retain(|chosen| chosen != value),
        "status" => state.status.retain(|chosen| chosen != value),
        "search" => state.search.clear(),
        "labels" => state.labels.clear(),
        _ => state.fields.clear(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_in_force_can_be_removed() {
        let mut state = ListState {
            namespaces: vec!["bank".to_owned(), "shop".to_owned()],
            search: "web".to_owned(),
            labels: "app=web".to_owned(),
            fields: "age<2d".to_owned(),
            status: vec!["Failed".to_owned()],
            sort: "-age".to_owned(),
            columns: vec!["name".to_owned()],
            compact: true,
            logs: true,
            offset: 0,
        };
        let all = filters(&state);
        assert_eq!(all.len(), 6);
        let mut cleared = state.clone();
        clear(&mut cleared);
        assert!(filters(&cleared).is_empty());
        assert_eq!(cleared.sort, "-age");
        for (name, value) in all {
            remove(&mut state, name, &value);
        }
        assert_eq!(state, cleared);
    }
}
