//! What an opened palette finds for its text, in groups.
use super::{
    Known, Palette, commands,
    entries::{
        Entry, Group, OBJECTS_RANK, Target, Typed, kind_and_rest, matching_group, taken_apart,
    },
    objects::{Found, ObjectSearch},
    sources,
};
use crate::{
    api::{clusters::list_kinds, resources::namespaces_for},
    carried::{Carried, use_carried},
    cluster_states::{ClusterStates, use_cluster_states},
    components::who_can_here,
    context::{Session, use_session},
    routes,
    ui::icons,
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use portico_domain::panel::{ResourceKind, ResourceRef};
use uuid::Uuid;

/// Maximum number of options of a group.
const MAX_ENTRIES: usize = 8;

/// Everything from which the options are made.
#[derive(Clone, Copy)]
pub struct Sources {
    palette: Palette,
    session: Session,
    carried: Carried,
    states: ClusterStates,
    cluster: Option<Uuid>,
    known: RwSignal<Option<Known>>,
    /// The actions of the page, as they were when the palette was opened.
    page_actions: StoredValue<Vec<Entry>>,
    panel_actions: StoredValue<Vec<Entry>>,
    objects: ObjectSearch,
}

impl Sources {
    /// Opens the sources on the page of the palette, and reads those of its cluster.
    pub fn open(palette: Palette) -> Self {
        let session = use_session();
        let path = use_location().pathname.get_untracked();
        let project = session.project.get_untracked();
        let cluster = routes::cluster_of(&path);
        let named = cluster.map(|id| (id, untrack(|| session.cluster_name(id))));
        let known = palette
            .known
            .with_value(|known| known.clone().filter(|known| Some(known.cluster) == cluster));
        let sources = Self {
            palette,
            session,
            carried: use_carried(),
            states: use_cluster_states(),
            cluster,
            known: RwSignal::new(known),
            page_actions: StoredValue::new(commands::of_page()),
            panel_actions: StoredValue::new(commands::of_panel(&project, named)),
            objects: ObjectSearch::new(),
        };
        if let Some(cluster) = cluster {
            sources.load(cluster);
            Effect::new(move |_| {
                let text = palette.text.get();
                sources
                    .known
                    .with(|known| sources.search(cluster, &text, known.as_ref()));
            });
        }
        sources
    }

    /// Reads the kinds and the namespaces of the cluster; until then, those of the last time serve.
    fn load(self, cluster: Uuid) {
        leptos::task::spawn_local(async move {
            let pods = ResourceRef::core("pods");
            let (kinds, namespaces) =
                futures::join!(list_kinds(cluster), namespaces_for(cluster, pods));
            let before = self.known.try_get_untracked().flatten();
            let (old_kinds, old_namespaces) =
                before.map_or_else(Default::default, |known| (known.kinds, known.namespaces));
            let known = Known {
                cluster,
                kinds: kinds.unwrap_or(old_kinds),
                namespaces: namespaces.ok().flatten().unwrap_or(old_namespaces),
            };
            self.palette.known.try_set_value(Some(known.clone()));
            let _ = self.known.try_set(Some(known));
        });
    }

    /// Searches the objects of the cluster for what was typed; `pods web` only pods.
    fn search(self, cluster: Uuid, text: &str, known: Option<&Known>) {
        match taken_apart(text) {
            Typed::Action(_) => self.objects.clear(),
            Typed::Anything(text) => match self.narrowed(text, known) {
                Some((kind, rest)) => {
                    let resource = sources::resource_of(kind);
                    self.objects.search(cluster, rest, Some(resource));
                }
                None => self.objects.search(cluster, text, None),
            },
        }
    }

    /// Returns the kind that the first word names, and the rest.
    fn narrowed<'a>(
        self,
        text: &'a str,
        known: Option<&'a Known>,
    ) -> Option<(&'a ResourceKind, &'a str)> {
        let (word, rest) = kind_and_rest(text)?;
        Some((sources::kind_named(known?, word)?, rest))
    }

    /// Returns the groups of options for the text, the best first.
    pub fn groups(self) -> Vec<Group> {
        let text = self.palette.text.get();
        let typed = match taken_apart(&text) {
            Typed::Action(typed) => {
                let found = matching_group("Actions", self.actions(), typed, 50);
                return found.into_iter().collect();
            }
            Typed::Anything(typed) => typed,
        };
        let project = self.session.project.get();
        let pages = || sources::pages(&project, self.cluster, self.carried);
        if typed.is_empty() {
            let recent = sources::recent(self.carried);
            return [
                matching_group("Recent", recent, typed, MAX_ENTRIES),
                matching_group(
                    "On this page",
                    self.page_actions.get_value(),
                    typed,
                    MAX_ENTRIES,
                ),
                matching_group("Go to", pages(), typed, 20),
            ]
            .into_iter()
            .flatten()
            .collect();
        }
        let known = self.known.get();
        let mut groups = Vec::new();
        if let Some((kind, rest)) = self.narrowed(typed, known.as_ref()) {
            groups.extend(self.within_kind(&project, kind, rest));
        }
        if let Some(known) = &known {
            let kinds = sources::kinds(known, &project, self.carried);
            let namespaces = sources::namespaces(known, &project, self.carried);
            groups.extend(matching_group("Kinds", kinds, typed, MAX_ENTRIES));
            groups.extend(matching_group("Namespaces", namespaces, typed, MAX_ENTRIES));
        }
        let clusters = sources::clusters(self.session, self.states, self.carried);
        groups.extend(matching_group("Clusters", clusters, typed, MAX_ENTRIES));
        groups.extend(matching_group(
            "Projects",
            sources::projects(self.session),
            typed,
            MAX_ENTRIES,
        ));
        groups.extend(matching_group("Pages", pages(), typed, MAX_ENTRIES));
        groups.extend(matching_group(
            "Actions",
            self.actions(),
            typed,
            MAX_ENTRIES,
        ));
        let objects = self.objects.entries(&project);
        if !objects.is_empty() {
            groups.push(Group {
                heading: "Objects",
                entries: objects,
                rank: OBJECTS_RANK,
            });
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.rank));
        groups
    }

    /// Offers the list of a kind with the rest as its filter.
    fn within_kind(self, project: &str, kind: &ResourceKind, rest: &str) -> Option<Group> {
        let href = routes::list(project, self.cluster?, &sources::resource_of(kind));
        let href = self.carried.list(&href, kind.namespaced);
        let mark = if href.contains('?') { '&' } else { '?' };
        let target = Target::Page(format!("{href}{mark}q={}", routes::escaped(rest)));
        let label = format!("{} with “{rest}”", kind.plural_name());
        Some(Group {
            heading: "List",
            entries: vec![Entry::new(label, icons::SEARCH, target)],
            rank: u32::MAX,
        })
    }

    fn actions(self) -> Vec<Entry> {
        let mut all = self.page_actions.get_value();
        all.extend(self.panel_actions.get_value());
        all
    }

    /// Says what is going on, for screen readers too.
    pub fn status(self) -> String {
        let count = self.palette.count.get();
        let options = crate::format::counted(count, "result");
        match self.objects.found() {
            _ if self.cluster.is_none() && !self.palette.text.with(String::is_empty) => {
                format!("{options}. Objects are searched on the pages of a cluster.")
            }
            Found::Nothing => options,
            Found::Searching => format!("{options}; searching objects…"),
            Found::Failed(refusal) => {
                format!(
                    "{options}. Objects could not be searched: {}",
                    refusal.reason
                )
            }
            Found::Hits {
                shown,
                total,
                failures,
                late,
                is_continued,
                ..
            } => {
                let more = if total > shown {
                    format!(" The best {shown} of {total} objects are shown.")
                } else {
                    String::new()
                };
                let gaps = if failures.is_empty() {
                    String::new()
                } else {
                    let reasons = failures.join("; ");
                    format!(" Not searched: {}.", reasons.trim_end_matches('.'))
                };
                let late = match (late.is_empty(), is_continued) {
                    (true, _) => String::new(),
                    (false, true) => format!(" Still searching {}…", late.join(", ")),
                    (false, false) => format!(" Not read in time: {}.", late.join(", ")),
                };
                format!("{options}.{more}{gaps}{late}")
            }
        }
    }

    /// Returns the button that continues a search which a slow cluster did not answer in time.
    pub fn search_again(self) -> Option<AnyView> {
        let objects = self.objects;
        let is_offered = matches!(
            objects.found(),
            Found::Hits { late, is_continued: false, .. } if !late.is_empty()
        );
        is_offered.then(|| {
            view! {
                " "
                <button type="button" class="btn btn-small" on:click=move |_| objects.search_again()>
                    "Search again"
                </button>
            }
            .into_any()
        })
    }

    /// Returns the link of a search that was refused.
    pub fn who_can(self) -> Option<AnyView> {
        let missing = match self.objects.found() {
            Found::Failed(refusal) => refusal.missing,
            Found::Hits { missing, .. } => missing,
            Found::Nothing | Found::Searching => None,
        }?;
        let href = who_can_here(&missing)?;
        let open = self.palette.open;
        Some(view! { " " <a href=href on:click=move |_| open.set(false)>"Who can?"</a> }.into_any())
    }
}
