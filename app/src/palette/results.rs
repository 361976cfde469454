//! The options below the field, as a listbox: the field keeps the focus and names the active one.
use super::{
    Known, Palette, commands,
    entries::{
        Entry, Group, OBJECTS_RANK, Target, Typed, kind_and_rest, matching_group, taken_apart,
    },
    objects::{Found, ObjectSearch},
    option_id, sources,
};
use crate::{
    api::{clusters::list_kinds, resources::namespaces_for},
    carried::{Carried, use_carried},
    cluster_states::{ClusterStates, use_cluster_states},
    components::{use_toasts, who_can_here},
    context::{Session, use_session},
    hooks::keyboard,
    operations::use_operations,
    routes,
    ui::{Icon, Status, icons},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;
use portico_domain::panel::{ResourceKind, ResourceRef};
use uuid::Uuid;

/// Maximum number of options of a group.
const MAX_ENTRIES: usize = 8;

/// Everything from which the options are made.
#[derive(Clone, Copy)]
struct Sources {
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

/// Returns the options of an opened palette.
pub fn results(palette: Palette) -> AnyView {
    let session = use_session();
    let path = use_location().pathname.get_untracked();
    let project = session.project.get_untracked();
    let cluster = routes::cluster_of(&path);
    let named = cluster.map(|id| (id, untrack(|| session.cluster_name(id))));
    let known = palette
        .known
        .with_value(|known| known.clone().filter(|known| Some(known.cluster) == cluster));
    let sources = Sources {
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
    let groups = Memo::new_with_compare(move |_| sources.groups(), |_, _| true);
    keep_active(palette, groups);
    let choose = chooser(palette);
    view! {
        <div id="palette-results" class="palette-results" role="listbox" aria-label="Results">
            {move || {
                let mut index = 0;
                groups
                    .get()
                    .into_iter()
                    .map(|group| group_view(group, &mut index, palette, choose))
                    .collect_view()
            }}
        </div>
        <p class="palette-status" role="status">
            {move || sources.status()}
            {move || sources.who_can()}
        </p>
    }
    .into_any()
}

impl Sources {
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

    fn groups(self) -> Vec<Group> {
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
    fn status(self) -> String {
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
                    format!(" Not searched: {}.", failures.join("; "))
                };
                format!("{options}.{more}{gaps}")
            }
        }
    }

    /// Returns the link of a search that was refused.
    fn who_can(self) -> Option<AnyView> {
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

/// Counts the options. A new text makes the first one active. Options that arrive later leave an
/// option that the user has moved to active, wherever it is then; else the first one is active.
fn keep_active(palette: Palette, groups: Memo<Vec<Group>>) {
    Effect::new(move |before: Option<(String, Vec<Target>)>| {
        let targets: Vec<Target> = groups.with(|groups| {
            let entries = groups.iter().flat_map(|group| &group.entries);
            entries.map(|entry| entry.target.clone()).collect()
        });
        let text = palette.text.get_untracked();
        let moved_to = palette.active.get_untracked();
        let active = before
            .filter(|(known, _)| *known == text && moved_to > 0)
            .and_then(|(_, targets)| targets.get(moved_to).cloned())
            .and_then(|target| targets.iter().position(|other| *other == target))
            .unwrap_or(0);
        palette.active.set(active);
        palette.count.set(targets.len());
        if palette.is_enter_pending.get_untracked() && !targets.is_empty() {
            palette.is_enter_pending.set(false);
            // once the options are in the page
            request_animation_frame(move || {
                keyboard::click(&format!("#{}", option_id(active)));
            });
        }
        (text, targets)
    });
}

/// Returns what the choice of an option does, besides following its link.
fn chooser(palette: Palette) -> Callback<Target> {
    let (toasts, operations) = (use_toasts(), use_operations());
    Callback::new(move |target: Target| {
        palette.open.set(false);
        match target {
            Target::Page(_) | Target::External(_) => {}
            // once the dialog has given the focus back
            Target::Click(selector) => request_animation_frame(move || {
                keyboard::click(&selector);
            }),
            Target::Filter => request_animation_frame(|| {
                keyboard::focus_first("[data-filter]");
            }),
            Target::Help => request_animation_frame(move || palette.help.set(true)),
            Target::Activity => request_animation_frame(move || operations.show_activity()),
            Target::Copy(text) => {
                let written = window().navigator().clipboard().write_text(&text);
                leptos::task::spawn_local(async move {
                    let done = wasm_bindgen_futures::JsFuture::from(written).await.is_ok();
                    toasts.say(if done {
                        format!("Copied: {text}")
                    } else {
                        format!("The browser did not allow copying. The command is: {text}")
                    });
                });
            }
        }
    })
}

fn group_view(
    group: Group,
    index: &mut usize,
    palette: Palette,
    choose: Callback<Target>,
) -> AnyView {
    let id = format!("palette-{}", group.heading.to_lowercase().replace(' ', "-"));
    let heading_id = id.clone();
    let options = group
        .entries
        .into_iter()
        .map(|entry| {
            let at = *index;
            *index += 1;
            option_view(entry, at, palette, choose)
        })
        .collect_view();
    view! {
        <div role="group" aria-labelledby=id>
            <div class="palette-heading" id=heading_id role="presentation">{group.heading}</div>
            {options}
        </div>
    }
    .into_any()
}

fn option_view(entry: Entry, index: usize, palette: Palette, choose: Callback<Target>) -> AnyView {
    let selected = move || {
        if palette.active.get() == index {
            "true"
        } else {
            "false"
        }
    };
    let state = entry
        .state
        .map(|(tone, text)| view! { <Status tone text /> }.into_any());
    let content = view! {
        <Icon icon=entry.icon />
        <span class="palette-label">{entry.label}</span>
        {state}
        <span class="palette-detail">{entry.refusal.clone().unwrap_or(entry.detail)}</span>
    };
    let id = option_id(index);
    let target = entry.target.clone();
    let href = target.href().map(str::to_owned);
    let is_refused = entry.refusal.is_some();
    match href {
        Some(href) => {
            let rel = matches!(target, Target::External(_)).then_some("external");
            let download = href.ends_with("/kubeconfig").then_some("");
            view! {
                <a
                    id=id
                    class="palette-option"
                    role="option"
                    tabindex="-1"
                    aria-selected=selected
                    href=href
                    rel=rel
                    download=download
                    on:click=move |event| {
                        // a new tab leaves this one as it is
                        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                            choose.run(target.clone());
                        }
                    }
                >
                    {content}
                </a>
            }
            .into_any()
        }
        None => view! {
            <div
                id=id
                class="palette-option"
                role="option"
                aria-selected=selected
                aria-disabled=is_refused.then_some("true")
                on:click=move |_| {
                    if !is_refused {
                        choose.run(target.clone());
                    }
                }
            >
                {content}
            </div>
        }
        .into_any(),
    }
}
