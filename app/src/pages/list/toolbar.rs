//! The one row above a list: a plain GET form, which scripts make immediate.
use super::{
    columns::ColumnsMenu, facets::StatusFacet, labels::LabelFilter, logs,
    namespaces::NamespaceSelect, page::ListPage, usage::ListUsage, views::ViewsMenu,
};
use crate::{
    hooks::{LiveList, Timer},
    routes::ListState,
    ui::{Icon, icons},
};
use leptos::prelude::*;
use std::time::Duration;

/// The delay after a key in a field.
pub const TYPING_DELAY: Duration = Duration::from_millis(40);

#[component]
pub fn Toolbar(
    page: ListPage,
    /// The namespaces to choose from; `None` if the kind has none.
    namespaces: Option<Vec<String>>,
    /// `None` if the list could not be loaded.
    list: Option<LiveList>,
    /// The usage of the list's rows, if it was loaded.
    #[prop(optional_no_strip)]
    usage: Option<ListUsage>,
    /// At the end of the row.
    #[prop(optional_no_strip)]
    end: Option<AnyView>,
) -> impl IntoView {
    let error = RwSignal::new(None::<(&'static str, String)>);
    let namespaced = namespaces.is_some();
    // a memo: another state of the list must not close an open menu
    let shows_logs = Memo::new(move |_| logs::are_shown(page));
    view! {
        <div class="list-bar">
            <form
                class="list-filters"
                method="get"
                action=page.base()
                role="search"
                aria-label="Filter the list"
                on:submit=|event| event.prevent_default()
            >
                {namespaces.map(|names| view! { <NamespaceSelect page names /> })}
                <Search page />
                <LabelFilter page list error />
                <FieldFilter page list error />
                {list.map(|list| view! { <StatusFacet page list /> })}
                <Hidden page />
                <noscript>
                    <button type="submit" class="btn">"Apply"</button>
                </noscript>
            </form>
            <div class="list-tools">
                <ViewsMenu page />
                {list.zip(usage).map(|(list, usage)| move || (!shows_logs.get()).then(|| view! {
                    <ColumnsMenu page list usage namespaced />
                }))}
                {end}
            </div>
        </div>
        // below all fields: it is longer than each of them is wide
        <p id="filter-error" class="field-error toolbar-error" role="status">
            {move || error.get().map(|(example, error)| view! {
                <Icon icon=icons::WARNING />
                <span>
                    {error}" Example: "<code>{example}</code>". The list is not filtered by it."
                </span>
            })}
        </p>
    }
    .into_any()
}

/// The parts of the state that have no field of their own, for a browser without scripts.
#[component]
fn Hidden(page: ListPage) -> impl IntoView {
    move || {
        page.state.with(|state| {
            let sort = (!state.sort.is_empty()).then(|| ("sort", state.sort.clone()));
            let columns = (!state.columns.is_empty()).then(|| ("columns", state.columns.join(",")));
            sort.into_iter()
                .chain(columns)
                .map(|(name, value)| view! { <input type="hidden" name=name value=value /> })
                .collect_view()
        })
    }
}

#[component]
fn Search(page: ListPage) -> impl IntoView {
    let pending = Timer::new();
    view! {
        <div class="search list-search">
            <Icon icon=icons::SEARCH />
            <input
                class="input"
                id="filter-name"
                name="q"
                type="search"
                placeholder="Search"
                title="Words in a name, a namespace or a column; -word leaves out"
                aria-label="Search by name, namespace or column"
                autocomplete="off"
                spellcheck="false"
                data-filter=""
                value=page.state.with_untracked(|state| state.search.clone())
                prop:value=move || page.state.with(|state| state.search.clone())
                on:input=move |event| {
                    let text = event_target_value(&event);
                    pending.start(TYPING_DELAY, move || page.change(|state| state.search = text));
                }
            />
        </div>
    }
    .into_any()
}

/// A field whose text is applied only if it is valid; otherwise the one in force stays.
#[derive(Clone, Copy)]
pub struct SelectorField {
    pub text: RwSignal<String>,
    pub error: Memo<Option<String>>,
    pending: Timer,
    apply: Callback<String>,
}

impl SelectorField {
    pub fn new(
        page: ListPage,
        of: fn(&mut ListState) -> &mut String,
        check: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let in_force = Memo::new(move |_| {
            let mut state = page.state.get();
            std::mem::take(of(&mut state))
        });
        let text = RwSignal::new(in_force.get_untracked());
        // one that changes otherwise (a link, the address) is shown in the field
        Effect::new(move |known: Option<String>| {
            let in_force = in_force.get();
            if known.is_some_and(|known| known != in_force) {
                text.set(in_force.clone());
            }
            in_force
        });
        Self {
            text,
            error: Memo::new(move |_| text.with(|text| check(text))),
            pending: Timer::new(),
            apply: Callback::new(move |text: String| page.change(|state| *of(state) = text)),
        }
    }

    /// Takes what the user has typed.
    pub fn typed(self, text: String) {
        self.text.set(text);
        self.pending.start(TYPING_DELAY, move || self.run());
    }

    /// Applies the text now, if it is valid.
    pub fn run(self) {
        if self.error.with_untracked(Option::is_none) {
            self.apply.run(self.text.get_untracked());
        }
    }

    /// Reports the error in the line below all fields.
    pub fn report(self, example: &'static str, errors: RwSignal<Option<(&'static str, String)>>) {
        let error = self.error;
        // rendered by the server too
        if let Some(error) = error.get_untracked() {
            errors.set(Some((example, error)));
        }
        Effect::new(move |was: Option<bool>| {
            let error = error.get();
            let is_wrong = error.is_some();
            if is_wrong || was == Some(true) {
                errors.set(error.map(|error| (example, error)));
            }
            is_wrong
        });
    }
}

#[component]
fn FieldFilter(
    page: ListPage,
    list: Option<LiveList>,
    error: RwSignal<Option<(&'static str, String)>>,
) -> impl IntoView {
    let field = SelectorField::new(
        page,
        |state| &mut state.fields,
        move |text| match list {
            Some(list) => list
                .columns
                .try_with(|columns| page.field_error(text, Some(columns)))
                .flatten(),
            None => page.field_error(text, None),
        },
    );
    field.report("status=Running,age<2d", error);
    view! {
        <div class="search list-selector">
            <Icon icon=icons::FILTER />
            <input
                class="input"
                id="filter-fields"
                name="fields"
                type="search"
                placeholder="Fields"
                title="Conditions on columns, separated by commas: restarts>3,node=worker-1"
                aria-label="Fields"
                autocomplete="off"
                spellcheck="false"
                aria-invalid=move || field.error.with(Option::is_some).then_some("true")
                aria-describedby=move || field.error.with(Option::is_some).then_some("filter-error")
                value=field.text.get_untracked()
                prop:value=move || field.text.get()
                on:input=move |event| field.typed(event_target_value(&event))
                on:keydown=move |event| {
                    if event.key() == "Enter" {
                        field.run();
                    }
                }
            />
        </div>
    }
    .into_any()
}
