//! The journal of a cluster: what was requested through Portico, and what was observed.
mod filter;

use super::{cluster_crumb, list_crumb, view_change::use_view_shown};
use crate::{
    api::lifecycle::get_cluster_journal,
    components::{Age, ErrorState, InlineError, PageHead},
    context::use_session,
    error::UiError,
    format,
    hooks::use_poll,
    routes::managed_clusters::{self, ManagedClustersPage},
    ui::{
        Badge, Banner, Button, ButtonKind, Card, Icon, SkeletonTable, StateMessage, Status, Tone,
        icons, suspended,
    },
};
use filter::use_filter;
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ClusterJournal, JournalAgreement, JournalFilter, JournalRow,
};
use std::{collections::HashSet, time::Duration};
use uuid::Uuid;

const TITLE: &str = "Journal";
/// How often new entries are read while the page is visible.
const INTERVAL: Duration = Duration::from_secs(10);

#[component]
pub fn Journal(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let project = session.project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(ManagedClustersPage::Journal(cluster), TITLE.to_owned());
    let filter = use_filter(cluster);
    let is_paused = RwSignal::new(false);
    let data = Resource::new(
        move || (session.project.get(), filter.value.get()),
        move |(_, filter)| get_cluster_journal(cluster, None, Some(filter)),
    );
    let retry = Callback::new(move |()| data.refetch());
    let of_file = project.clone();
    let file = move || {
        let filter = filter.value.get();
        managed_clusters::journal_file(&of_file, cluster, &filter)
    };
    let actions = view! {
        <a class="btn" href=file rel="external" download>
            <Icon icon=icons::DOWNLOAD />
            "Download as JSON lines"
        </a>
    }
    .into_any();
    view! {
        <PageHead
            title=TITLE
            crumbs
            actions
            lede="Requests through Portico, every difference that was observed in Magnum, what happened to nodes, and \
                  the events of the cluster's stack in Heat, if it has one. The journal remains when the cluster is \
                  deleted."
        />
        {filter.bar(is_paused)}
        <Transition fallback=|| view! { <SkeletonTable /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(journal) => {
                        let filter = filter.value.get_untracked();
                        view! { <Shown cluster journal filter is_paused /> }.into_any()
                    }
                    Err(error) => view! {
                        <div class="card mt-4"><ErrorState error retry /></div>
                    }
                    .into_any(),
                }
            })}
        </Transition>
    }
    .into_any()
}

/// What the page shows. `Copy`.
#[derive(Clone, Copy)]
struct Entries {
    cluster: Uuid,
    rows: RwSignal<Vec<JournalRow>>,
    older: RwSignal<Option<i64>>,
    has_older_pages: StoredValue<bool>,
    gaps: RwSignal<Vec<String>>,
    changed: RwSignal<Option<String>>,
    agreement: RwSignal<Option<JournalAgreement>>,
    filter: StoredValue<JournalFilter>,
    is_paused: RwSignal<bool>,
    is_reading: RwSignal<bool>,
    /// Why new entries could not be read; they are read again.
    outdated: RwSignal<Option<String>>,
    /// Why older entries could not be read.
    failure: RwSignal<Option<UiError>>,
}

#[component]
fn Shown(
    cluster: Uuid,
    journal: ClusterJournal,
    filter: JournalFilter,
    is_paused: RwSignal<bool>,
) -> impl IntoView {
    let entries = Entries {
        cluster,
        rows: RwSignal::new(journal.rows),
        older: RwSignal::new(journal.older),
        has_older_pages: StoredValue::new(false),
        gaps: RwSignal::new(journal.gaps),
        changed: RwSignal::new(journal.changed),
        agreement: RwSignal::new(journal.agreement),
        filter: StoredValue::new(filter),
        is_paused,
        is_reading: RwSignal::new(false),
        outdated: RwSignal::new(None),
        failure: RwSignal::new(None),
    };
    use_poll(INTERVAL, move || entries.refresh());
    let is_empty = Memo::new(move |_| entries.rows.with(Vec::is_empty));
    view! {
        {move || entries.changed.get().map(|text| view! {
            <div class="mt-4"><Banner tone=Tone::Bad>{text}</Banner></div>
        })}
        {move || entries.agreement.get().filter(|found| !found.agrees).map(|found| view! {
            <div class="mt-4" data-part="disagreement"><Banner tone=Tone::Bad>{found.text}</Banner></div>
        })}
        {move || entries.outdated.get().map(|reason| view! {
            <div class="mt-4" data-part="outdated">
                <Banner tone=Tone::Warn>"The journal could not refresh; retrying. "{reason}</Banner>
            </div>
        })}
        <div class="mt-4">
            <Card title="Entries">
                {move || if is_empty.get() { empty(entries) } else { list(entries.rows) }}
            </Card>
        </div>
        {move || entries.failure.get().map(|error| view! {
            <div class="mt-4"><InlineError error /></div>
        })}
        {older(entries)}
        {move || entries.agreement.get().filter(|found| found.agrees).map(|found| view! {
            <p class="text-muted mt-2" data-part="agreement">{found.text}</p>
        })}
        {move || entries.gaps.get().into_iter().map(|gap| view! {
            <p class="text-muted mt-2">{gap}</p>
        }).collect_view()}
    }
    .into_any()
}

impl Entries {
    /// Reads new entries, unless the user has paused or a read is in progress.
    fn refresh(self) {
        if self.is_paused.get_untracked() || self.is_reading.get_untracked() {
            return;
        }
        self.read(None);
    }

    /// Reads the newest entries, or those before a sequence number.
    fn read(self, before: Option<i64>) {
        self.is_reading.set(true);
        let filter = self.filter.get_value();
        let asked = get_cluster_journal(self.cluster, before, Some(filter));
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page meanwhile
            if self.is_reading.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(journal) => self.take(journal, before.is_some()),
                // a read that the user did not ask for interrupts nothing
                Err(error) if before.is_none() => {
                    let _ = self.outdated.try_set(Some(error.message));
                }
                Err(error) => {
                    let _ = self.failure.try_set(Some(error));
                }
            }
        });
    }

    fn take(self, journal: ClusterJournal, is_older: bool) {
        if is_older {
            let _ = self.failure.try_set(None);
        } else {
            let _ = self.outdated.try_set(None);
        }
        // once older entries were read, the newest ones do not tell where to go on
        let has_older_pages = self.has_older_pages.try_get_value() == Some(true);
        if is_older || !has_older_pages {
            let _ = self.older.try_set(journal.older);
        }
        if is_older {
            self.has_older_pages.try_set_value(true);
        }
        if !is_older {
            let _ = self.gaps.try_set(journal.gaps);
            let _ = self.agreement.try_set(journal.agreement);
        }
        if journal.changed.is_some() || !is_older {
            let _ = self.changed.try_set(journal.changed);
        }
        let merged = self
            .rows
            .try_with_untracked(|rows| merged(rows, journal.rows));
        let differs = self
            .rows
            .try_with_untracked(|rows| merged.as_ref().is_some_and(|merged| merged != rows));
        if let (Some(true), Some(merged)) = (differs, merged) {
            let _ = self.rows.try_set(merged);
        }
    }
}

/// Returns the rows with those that were read in their places, the newest first.
fn merged(shown: &[JournalRow], read: Vec<JournalRow>) -> Vec<JournalRow> {
    let ids: HashSet<String> = read.iter().map(|row| row.id.clone()).collect();
    let mut all: Vec<_> = shown
        .iter()
        .filter(|row| !ids.contains(&row.id) && !read.iter().any(|new| replaces(new, row)))
        .cloned()
        .collect();
    all.extend(read);
    all.sort_by_key(|row| std::cmp::Reverse(row.at));
    all
}

/// Returns whether a row has the outcome of the request that another one is about.
fn replaces(new: &JournalRow, row: &JournalRow) -> bool {
    row.request_id.is_some()
        && new.request_id == row.request_id
        && new.title == row.title
        && new.id != row.id
        && new.at >= row.at
}

fn empty(entries: Entries) -> AnyView {
    let (title, text) = if entries.filter.with_value(JournalFilter::is_empty) {
        (
            "No entries yet",
            "The journal begins when the cluster is first shown in Portico.",
        )
    } else {
        (
            "No entries match the filter",
            "Change the filter above, or look among older entries if there are any.",
        )
    };
    view! { <StateMessage icon=icons::INFO title text state="empty" /> }.into_any()
}

fn list(rows: RwSignal<Vec<JournalRow>>) -> AnyView {
    view! {
        <ol class="rows" aria-label="Entries, the newest first">
            <For each=move || rows.get() key=|row| (row.id.clone(), row.status.clone()) let:row>
                {entry(row)}
            </For>
        </ol>
    }
    .into_any()
}

fn entry(row: JournalRow) -> AnyView {
    let tone = Tone::from(row.health);
    let before = row.since.map(|since| {
        format!(
            "Between {} and {}: nothing was observed in this time.",
            format::moment(since),
            format::moment(row.at)
        )
    });
    view! {
        <li class="grid gap-1" data-source=format!("{:?}", row.source).to_lowercase()>
            <span class="flex flex-wrap items-center gap-2">
                <strong class="wrap-anywhere">{row.title}</strong>
                <Status tone text=row.status />
                {row.is_outside.then(|| view! { <Badge tone=Tone::Warn text="Outside of Portico" /> })}
                <span class="text-muted"><Age at=Some(row.at) /> " ago"</span>
            </span>
            <span class="text-muted wrap-anywhere">{row.by}</span>
            {row.reason.map(|text| view! { <span class="wrap-anywhere">"Reason: " {text}</span> })}
            {row.lines.into_iter().map(|line| view! {
                <span class="wrap-anywhere">{line}</span>
            }).collect_view()}
            {before.map(|text| view! { <span class="text-muted">{text}</span> })}
            {row.request_id.map(|id| view! {
                <span class="text-faint wrap-anywhere">"Request " <code>{id}</code></span>
            })}
        </li>
    }
    .into_any()
}

fn older(entries: Entries) -> AnyView {
    view! {
        {move || entries.older.get().map(|before| view! {
            <div class="mt-4">
                <Button
                    label=Signal::derive(|| "Show older entries".to_owned())
                    kind=ButtonKind::Plain
                    busy=entries.is_reading
                    on_click=Callback::new(move |_| entries.read(Some(before)))
                />
            </div>
        })}
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{Health, lifecycle::JournalSource};

    fn row(id: &str, at: i64, status: &str) -> JournalRow {
        JournalRow {
            id: id.to_owned(),
            at,
            since: None,
            source: JournalSource::Request,
            title: String::new(),
            lines: Vec::new(),
            by: String::new(),
            user: None,
            is_outside: false,
            reason: None,
            status: status.to_owned(),
            health: Health::Ok,
            request_id: None,
        }
    }

    #[test]
    fn the_outcome_of_a_request_replaces_the_entry_that_it_was_sent() {
        let of_request = |row: JournalRow| JournalRow {
            request_id: Some("r1".to_owned()),
            title: "Delete the cluster".to_owned(),
            ..row
        };
        let shown = [of_request(row("1", 10, "Sent"))];
        let merged = merged(&shown, vec![of_request(row("2", 11, "Accepted"))]);
        assert_eq!(merged.len(), 1);
        assert_eq!(merged[0].status, "Accepted");
    }

    #[test]
    fn new_entries_are_first_and_known_ones_are_replaced() {
        let shown = [row("2", 20, "Sent"), row("1", 10, "Accepted")];
        let read = vec![row("3", 30, "Accepted"), row("2", 20, "Accepted")];
        let merged = merged(&shown, read);
        let rows: Vec<_> = merged
            .iter()
            .map(|row| (row.id.as_str(), row.status.as_str()))
            .collect();
        assert_eq!(
            rows,
            [("3", "Accepted"), ("2", "Accepted"), ("1", "Accepted")]
        );
    }
}
