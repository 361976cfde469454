//! What is left after a deletion.
use super::{cluster_crumb, inventory::gaps, record::StoredRecord, without_scripts};
use crate::{
    api::lifecycle::{get_leftovers, remove_cluster_record},
    components::{Age, ErrorState, InlineError, NeedsScripts, PageHead},
    context::{Session, use_session},
    error::UiError,
    format,
    hooks::Timer,
    pages::lifecycle::{list_crumb, view_change::use_view_shown},
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Button, Card, CodeBlock, SkeletonLines, StateMessage, Status, Tone, Why, icons},
};
use leptos::{children::ViewFn, prelude::*};
use portico_domain::panel::lifecycle::{ActionOffer, Fate, LeftoverItem, Leftovers};
use std::time::Duration;
use uuid::Uuid;

const TITLE: &str = "Leftovers";
/// Time between two looks while Magnum still has the cluster.
const REFRESH_INTERVAL: Duration = Duration::from_secs(5);

#[component]
pub fn LeftoversPage(cluster: Uuid) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(ManagedClustersPage::Leftovers(cluster), TITLE.to_owned());
    let notice = without_scripts([format!("openstack coe cluster show {cluster}")]);
    view! {
        <PageHead
            title=TITLE
            crumbs
            lede="Resources of a deleted cluster that still exist in the cloud."
        />
        <NeedsScripts notice console=ViewFn::from(move || view! { <Workspace cluster /> }.into_any()) />
    }
    .into_any()
}

/// `Copy`.
#[derive(Clone, Copy)]
struct Search {
    cluster: Uuid,
    session: Session,
    record: StoredRecord,
    found: RwSignal<Option<Leftovers>>,
    failure: RwSignal<Option<UiError>>,
    is_reading: RwSignal<bool>,
    is_removing: RwSignal<bool>,
    is_removed: RwSignal<bool>,
    removal_failure: RwSignal<Option<UiError>>,
    timer: Timer,
}

impl Search {
    fn new(cluster: Uuid) -> Self {
        Self {
            cluster,
            session: use_session(),
            record: StoredRecord::of(cluster),
            found: RwSignal::new(None),
            failure: RwSignal::new(None),
            is_reading: RwSignal::new(false),
            is_removing: RwSignal::new(false),
            is_removed: RwSignal::new(false),
            removal_failure: RwSignal::new(None),
            timer: Timer::new(),
        }
    }

    /// Looks once; again while Magnum still has the cluster and the page is visible.
    fn read(self) {
        if self.is_reading.try_get_untracked() != Some(false) {
            return;
        }
        self.is_reading.set(true);
        let asked = get_leftovers(self.cluster, self.record.read());
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = self.is_reading.try_set(false);
            match answer {
                Ok(found) => {
                    if !found.is_gone {
                        self.wait();
                    }
                    let _ = self.failure.try_set(None);
                    let _ = self.found.try_set(Some(found));
                }
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }

    fn wait(self) {
        self.timer.start(REFRESH_INTERVAL, move || {
            if document().hidden() {
                self.wait();
            } else {
                self.read();
            }
        });
    }

    fn remove_record(self) {
        if self.is_removing.try_get_untracked() != Some(false) {
            return;
        }
        self.is_removing.set(true);
        self.removal_failure.set(None);
        let asked = remove_cluster_record(self.cluster);
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            let _ = self.is_removing.try_set(false);
            match answer {
                // false: another user has removed it
                Ok(_) => {
                    let _ = self.is_removed.try_set(true);
                    self.session.refresh();
                }
                Err(error) => {
                    let _ = self.removal_failure.try_set(Some(error));
                }
            }
        });
    }
}

#[component]
fn Workspace(cluster: Uuid) -> impl IntoView {
    let search = Search::new(cluster);
    search.read();
    let retry = Callback::new(move |()| search.read());
    let is_first_read = Memo::new(move |_| {
        search.found.with(Option::is_none) && search.failure.with(Option::is_none)
    });
    let project = search.session.project.get_untracked();
    let list = ManagedClustersPage::List.address(&project);
    view! {
        {move || is_first_read.get().then(|| view! { <SkeletonLines lines=6 /> })}
        {move || search.failure.get().map(|error| view! {
            <div class="card mb-4"><ErrorState error retry /></div>
        })}
        {move || search.found.get().map(|found| content(found, search))}
        <div class="flex flex-wrap items-center gap-2 mt-4">
            <Button
                label="Refresh"
                icon=icons::REFRESH
                busy=search.is_reading
                on_click=move |_| search.read()
            />
            <a class="btn" href=list>"All clusters"</a>
        </div>
    }
    .into_any()
}

fn content(found: Leftovers, search: Search) -> AnyView {
    let state = if found.is_gone {
        None
    } else {
        Some(view! {
            <Banner tone=Tone::Info>
                "Magnum still has the cluster, so this list is not final."
            </Banner>
        })
    };
    let is_complete = found.is_gone && found.gaps.is_empty();
    let items = if found.items.is_empty() {
        nothing(is_complete)
    } else {
        let rows = found.items.into_iter().map(row).collect_view();
        view! {
            <div class="mt-4">
                <Card title="Still exists" flush=true><ul class="rows">{rows}</ul></Card>
            </div>
        }
        .into_any()
    };
    view! {
        <p class="mb-4">
            <strong class="wrap-anywhere">{found.cluster.name}</strong>
            " · checked "
            <Age at=Some(found.read_at) />
            " ago"
        </p>
        {state}
        {gaps(found.gaps)}
        {items}
        {found.record.map(|offer| removal(offer, search))}
    }
    .into_any()
}

fn nothing(is_complete: bool) -> AnyView {
    let (title, text) = if is_complete {
        (
            "Nothing is left",
            "The cluster and everything that belonged to it are deleted.",
        )
    } else {
        (
            "Nothing was found",
            "This is not final: see the notes above.",
        )
    };
    view! {
        <div class="card mt-4" role="status">
            <StateMessage icon=icons::OK title text state="empty" />
        </div>
    }
    .into_any()
}

fn row(item: LeftoverItem) -> AnyView {
    let (tone, words) = match item.predicted {
        Some(Fate::Goes) => (Tone::Bad, "Should be deleted"),
        Some(Fate::Depends) => (Tone::Warn, "Not deleted"),
        Some(Fate::Stays) => (Tone::Idle, "Remains, as expected"),
        None => (Tone::Warn, "Not in the inventory"),
    };
    let command = item.command.map(|text| {
        let what = format!("command for {}", item.id);
        view! { <CodeBlock text what /> }
    });
    view! {
        <li class="grid grid-cols-1 gap-1">
            <span class="flex flex-wrap items-center gap-2">
                <strong class="wrap-anywhere">{item.name}</strong>
                <span class="text-muted">{format::capitalised(&item.kind)}</span>
                <Status tone text=words />
            </span>
            <code class="wrap-anywhere">{item.id.clone()}</code>
            <span class="wrap-anywhere">{item.text}</span>
            {command}
        </li>
    }
    .into_any()
}

/// Returns the card that removes the record of the enrolled cluster; afterwards it only states that.
fn removal(offer: ActionOffer, search: Search) -> AnyView {
    let refusal = offer.refusal;
    let offered = move || {
        (!search.is_removed.get()).then(|| {
            view! {
                <p>"Portico still lists the cluster among those that can be opened."</p>
                {move || search.removal_failure.get().map(|error| view! {
                    <InlineError error />
                })}
                <div>{removal_button(refusal.clone(), search)}</div>
            }
        })
    };
    view! {
        <div class="mt-4" data-part="record">
            <Card title="Record in Portico">
                <div class="grid grid-cols-1 gap-3">
                    {offered}
                    <p role="status">
                        {move || search.is_removed.get().then_some("The record is removed.")}
                    </p>
                </div>
            </Card>
        </div>
    }
    .into_any()
}

fn removal_button(refusal: Option<String>, search: Search) -> AnyView {
    match refusal {
        Some(reason) => view! {
            <Why id="record-refusal" label="Remove from Portico" reason action="remove-record" />
        }
        .into_any(),
        None => view! {
            <Button
                label="Remove from Portico"
                icon=icons::TRASH
                busy=search.is_removing
                on_click=move |_| search.remove_record()
            />
        }
        .into_any(),
    }
}
