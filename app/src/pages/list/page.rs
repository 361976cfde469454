//! What the parts of a list's page share: which list it is, and what the user wants to see of it.
use crate::{
    hooks::Timer,
    routes::{self, ListState},
};
use leptos::{ev::MouseEvent, prelude::*};
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};
use portico_domain::panel::{
    Column, ListQuery, ResourceRef, RowRange, field_selector, label_selector,
};
use std::time::Duration;
use uuid::Uuid;

/// Number of rows that the server renders, which is a page without scripts.
pub const PAGE_ROWS: usize = 50;
/// The address follows the state after this delay; typing would change it with each key.
const ADDRESS_DELAY: Duration = Duration::from_millis(150);

/// A list's page. `Copy`.
#[derive(Clone, Copy)]
pub struct ListPage {
    pub cluster: Uuid,
    pub resource: StoredValue<ResourceRef>,
    /// Whether objects of this kind can be in namespaces of the user's choice.
    pub with_namespaces: bool,
    /// The address without its query.
    base: StoredValue<String>,
    /// What the user wants to see. The address follows it, and it follows the address.
    pub state: RwSignal<ListState>,
    /// The query of the address that the state was written to, or read from.
    written: StoredValue<String>,
    address: Timer,
    go: Callback<String>,
}

impl ListPage {
    pub fn new(cluster: Uuid, resource: ResourceRef, base: String, with_namespaces: bool) -> Self {
        let query = use_query_map();
        let known = Memo::new(move |_| {
            query.with(|query| ListState::read(|key| query.get_all(key).unwrap_or_default()))
        });
        let navigate = use_navigate();
        let go = Callback::new(move |href: String| {
            let options = NavigateOptions {
                replace: true,
                scroll: false,
                ..Default::default()
            };
            navigate(&href, options);
        });
        let state = known.get_untracked();
        let page = Self {
            cluster,
            resource: StoredValue::new(resource),
            with_namespaces,
            base: StoredValue::new(base),
            written: StoredValue::new(state.query()),
            state: RwSignal::new(state),
            address: Timer::new(),
            go,
        };
        Effect::new(move |_| {
            let known = known.get();
            let query = known.query();
            if page.written.with_value(|written| *written != query) {
                page.written.set_value(query);
                page.state.set(known);
            }
        });
        page
    }

    /// Changes what is shown; the list begins again at its first row.
    pub fn change(self, change: impl FnOnce(&mut ListState)) {
        self.state.maybe_update(|state| {
            let before = state.clone();
            change(state);
            state.offset = 0;
            *state != before
        });
        self.write_address(ADDRESS_DELAY);
    }

    /// Changes which columns are shown; the rows stay.
    pub fn change_columns(self, change: impl FnOnce(&mut ListState)) {
        self.state.update(change);
        self.write_address(ADDRESS_DELAY);
    }

    /// Notes the first visible row in the address, so that the place is found again.
    pub fn note_offset(self, offset: usize) {
        // what is shown does not change with it
        self.state.update_untracked(|state| state.offset = offset);
        self.write_address(Duration::from_millis(500));
    }

    fn write_address(self, delay: Duration) {
        self.address.start(delay, move || {
            let Some(base) = self.base.try_get_value() else {
                return;
            };
            // a link that was followed meanwhile must not be taken back
            let here = window().location().pathname().unwrap_or_default();
            let query = self.state.with_untracked(ListState::query);
            if here == base && self.written.with_value(|written| *written != query) {
                self.written.set_value(query.clone());
                self.go.run(format!("{base}{query}"));
            }
        });
    }

    /// Returns the address of the list.
    pub fn base(self) -> String {
        self.base.get_value()
    }

    /// Returns the query of the list's address without the place.
    pub fn view_query(self) -> String {
        self.state.with(|state| {
            let first = ListState {
                offset: 0,
                ..state.clone()
            };
            first.query()
        })
    }

    /// Returns the address of the list as it would be after a change.
    pub fn href(self, change: impl FnOnce(&mut ListState)) -> String {
        let mut state = self.state.get();
        state.offset = 0;
        change(&mut state);
        format!("{}{}", self.base(), state.query())
    }

    /// Returns what the server is asked for. An invalid selector is marked in its field and selects
    /// nothing.
    pub fn query(self, columns: Option<&[Column]>) -> ListQuery {
        self.state.with(|state| self.query_of(state, columns))
    }

    /// Returns the query without tracking the state.
    pub fn first_query(self) -> ListQuery {
        self.state
            .with_untracked(|state| self.query_of(state, None))
    }

    fn query_of(self, state: &ListState, columns: Option<&[Column]>) -> ListQuery {
        let resource = self.resource.get_value();
        ListQuery {
            namespaces: if self.with_namespaces {
                state.namespaces.clone()
            } else {
                Vec::new()
            },
            search: state.search.clone(),
            labels: Some(state.labels.clone())
                .filter(|labels| label_selector::check(labels).is_ok())
                .unwrap_or_default(),
            fields: Some(state.fields.clone())
                .filter(|fields| self.field_error(fields, columns).is_none())
                .unwrap_or_default(),
            status: state.status.clone(),
            sort: state.sort.clone(),
            resource,
        }
    }

    /// Returns why a text is not a field selector of this list. Without columns only its grammar is
    /// checked.
    pub fn field_error(self, text: &str, columns: Option<&[Column]>) -> Option<String> {
        let checked = match columns {
            Some(columns) => self
                .resource
                .with_value(|resource| field_selector::check(text, resource, columns)),
            None => field_selector::FieldSelector::parse(text).map(drop),
        };
        checked.err().map(|error| error.to_string())
    }

    /// Returns the rows that are rendered first.
    pub fn first_range(self) -> RowRange {
        RowRange {
            offset: self.state.with_untracked(|state| state.offset),
            limit: PAGE_ROWS,
        }
    }

    /// Returns the address of an object of this list.
    pub fn object_href(
        self,
        project: &str,
        namespace: Option<String>,
        name: &str,
        tab: routes::Tab,
    ) -> String {
        let object = portico_domain::panel::ObjectRef {
            resource: self.resource.get_value(),
            namespace,
            name: name.to_owned(),
        };
        routes::object_tab(project, self.cluster, &object, tab)
    }
}

/// Returns whether a click is to be handled here: one that opens another tab is the browser's.
pub fn is_plain_click(event: &MouseEvent) -> bool {
    event.button() == 0
        && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key())
}

/// A link that changes what is shown: over the open stream, and without scripts by its address.
#[component]
pub fn StateLink<F>(
    page: ListPage,
    change: F,
    #[prop(into)] class: Signal<String>,
    #[prop(into, optional)] title: String,
    /// The name for screen readers, if the content is not enough.
    #[prop(into, optional)]
    label: Option<String>,
    children: Children,
) -> impl IntoView
where
    F: Fn(&mut ListState) + Clone + Send + Sync + 'static,
{
    let target = change.clone();
    let title = (!title.is_empty()).then_some(title);
    view! {
        <a
            class=move || class.get()
            href=move || page.href(target.clone())
            title=title
            aria-label=label
            data-noscroll=""
            on:click=move |event| {
                if is_plain_click(&event) {
                    event.prevent_default();
                    event.stop_propagation();
                    page.change(change.clone());
                }
            }
        >
            {children()}
        </a>
    }
    .into_any()
}
