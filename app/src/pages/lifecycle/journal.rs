//! The journal of a cluster: what was requested through Portico, and what was observed.
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
        icons,
    },
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ClusterJournal, JournalAgreement, JournalRow, JournalSource,
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
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_cluster_journal(cluster, None),
    );
    let retry = Callback::new(move |()| data.refetch());
    let file = managed_clusters::journal_file(&project, cluster);
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
            lede="Requests through Portico, every difference that was observed in Magnum, and the events of \
                  the cluster's stack in Heat, if it has one. The journal remains when the cluster is deleted."
        />
        <Suspense fallback=|| view! { <SkeletonTable /> }>
            {move || Suspend::new(async move {
                match data.await {
                    Ok(journal) => view! { <Shown cluster journal /> }.into_any(),
                    Err(error) => view! {
                        <div class="card"><ErrorState error retry /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}

/// What the page shows. `Copy`.
#[derive(Clone, Copy)]
struct Entries {
    cluster: Uuid,
    rows: RwSignal<Vec<JournalRow>>,
    older: RwSignal<Option<i64>>,
    gaps: RwSignal<Vec<String>>,
    changed: RwSignal<Option<String>>,
    agreement: RwSignal<Option<JournalAgreement>>,
    hidden: RwSignal<HashSet<JournalSource>>,
    is_paused: RwSignal<bool>,
    is_reading: RwSignal<bool>,
    /// Why new entries could not be read; they are read again.
    outdated: RwSignal<Option<String>>,
    /// Why older entries could not be read.
    failure: RwSignal<Option<UiError>>,
}

#[component]
fn Shown(cluster: Uuid, journal: ClusterJournal) -> impl IntoView {
    let entries = Entries {
        cluster,
        rows: RwSignal::new(journal.rows),
        older: RwSignal::new(journal.older),
        gaps: RwSignal::new(journal.gaps),
        changed: RwSignal::new(journal.changed),
        agreement: RwSignal::new(journal.agreement),
        hidden: RwSignal::default(),
        is_paused: RwSignal::new(false),
        is_reading: RwSignal::new(false),
        outdated: RwSignal::new(None),
        failure: RwSignal::new(None),
    };
    use_poll(INTERVAL, move || entries.refresh());
    let shown = Memo::new(move |_| {
        let hidden = entries.hidden.get();
        entries.rows.with(|rows| {
            rows.iter()
                .filter(|row| !hidden.contains(&row.source))
                .cloned()
                .collect::<Vec<_>>()
        })
    });
    view! {
        {move || entries.changed.get().map(|text| view! {
            <div class="mb-4"><Banner tone=Tone::Bad>{text}</Banner></div>
        })}
        {move || entries.agreement.get().filter(|found| !found.agrees).map(|found| view! {
            <div class="mb-4" data-part="disagreement"><Banner tone=Tone::Bad>{found.text}</Banner></div>
        })}
        {tools(entries)}
        {move || entries.outdated.get().map(|reason| view! {
            <div class="mt-4" data-part="outdated">
                <Banner tone=Tone::Warn>"The journal could not refresh; retrying. "{reason}</Banner>
            </div>
        })}
        <div class="mt-4">
            <Card title="Entries">
                {move || if shown.with(Vec::is_empty) { empty(entries) } else { list(shown) }}
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
        let asked = get_cluster_journal(self.cluster, before);
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
        let has_older_pages = self
            .rows
            .try_with_untracked(|rows| rows.len() > journal.rows.len());
        if is_older || has_older_pages != Some(true) {
            let _ = self.older.try_set(journal.older);
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

/// Returns the choice of sources, and the button that pauses the updates.
fn tools(entries: Entries) -> AnyView {
    let choices = JournalSource::ALL.map(|source| {
        view! {
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || entries.hidden.with(|hidden| !hidden.contains(&source))
                    on:change=move |event| {
                        let is_shown = event_target_checked(&event);
                        entries.hidden.update(|hidden| {
                            if is_shown {
                                hidden.remove(&source);
                            } else {
                                hidden.insert(source);
                            }
                        });
                    }
                />
                {source.words()}
            </label>
        }
    });
    let label = Signal::derive(move || {
        let words = if entries.is_paused.get() {
            "Resume updates"
        } else {
            "Pause updates"
        };
        words.to_owned()
    });
    view! {
        <div class="flex flex-wrap items-center gap-4">
            <fieldset class="flex flex-wrap items-center gap-3">
                <legend class="visually-hidden">"Shown entries"</legend>
                {choices.into_iter().collect_view()}
            </fieldset>
            <Button
                label
                small=true
                on_click=Callback::new(move |_| entries.is_paused.update(|paused| *paused = !*paused))
            />
        </div>
    }
    .into_any()
}

fn empty(entries: Entries) -> AnyView {
    let (title, text) = if entries.rows.with_untracked(Vec::is_empty) {
        (
            "No entries yet",
            "The journal begins when the cluster is first shown in Portico.",
        )
    } else {
        (
            "No entries of these sources",
            "Choose other sources above to see the others.",
        )
    };
    view! { <StateMessage icon=icons::INFO title text state="empty" /> }.into_any()
}

fn list(shown: Memo<Vec<JournalRow>>) -> AnyView {
    view! {
        <ol class="rows" aria-label="Entries, the newest first">
            <For each=move || shown.get() key=|row| (row.id.clone(), row.status.clone()) let:row>
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
    use portico_domain::panel::Health;

    fn row(id: &str, at: i64, status: &str) -> JournalRow {
        JournalRow {
            id: id.to_owned(),
            at,
            since: None,
            source: JournalSource::Request,
            title: String::new(),
            lines: Vec::new(),
            by: String::new(),
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
