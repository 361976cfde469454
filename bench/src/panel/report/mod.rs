//! The results: JSON for programs, a table and a plot for readers.
mod logs;
mod plot;
mod table;

use super::figures::{
    Changing, EventToScreen, Figures, FirstPage, FirstRows, Following, Interaction, Memory,
    Network, Viewing,
};
use super::fill::Filled;
use crate::machine::Machine;
use crate::report::{self, Load, median};
use anyhow::Result;
pub use logs::LogFigures;
use serde::Serialize;
use std::path::Path;

/// Seconds after which the memory of a tab is reported as that of ten minutes.
const TEN_MINUTES: u64 = 600;

/// The cluster's overview with an empty cache; medians of rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FirstPageFigures {
    pub bytes_brotli: f64,
    pub requests: f64,
    pub fcp_ms_slow: f64,
    pub fcp_ms_medium: f64,
    pub interactive_ms_slow: f64,
    pub interactive_ms_medium: f64,
}

/// The list of all pods; medians of rounds, of the tasks the longest of all.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ListFigures {
    /// Without another viewer: Portico reads the list first.
    pub first_rows_ms: f64,
    /// While another viewer has the list open.
    pub first_rows_shared_ms: f64,
    pub filter_ms: f64,
    /// Without the browser's delay and its work.
    pub filter_answer_ms: f64,
    pub sort_ms: f64,
    pub sort_answer_ms: f64,
    /// 0: no task took more than 50 ms.
    pub longest_task_ms: f64,
    /// With WASM memory.
    pub heap_mb: f64,
    pub wasm_mb: f64,
    pub dom_nodes: u64,
}

/// The list of all pods with fifty viewers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ViewersFigures {
    pub watches: usize,
    /// The most at any moment.
    pub server_rss_mb: f64,
}

/// All that is not a figure.
#[derive(Clone, Debug, Serialize)]
pub struct Rounds {
    pub first_page: Vec<FirstPage>,
    pub first_rows: Vec<FirstRows>,
    pub filter: Vec<Interaction>,
    pub sort: Vec<Interaction>,
    pub memory: Memory,
    pub viewers: Viewing,
    pub event_to_screen: EventToScreen,
    pub changes: Changing,
    pub log: Following,
}

/// `docs/performance/panel.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub machine: Machine,
    pub load: Load,
    pub browser: String,
    /// Whether the run shows only that everything works.
    pub is_quick: bool,
    pub cluster: Filled,
    pub first_page: FirstPageFigures,
    pub list_10000: ListFigures,
    pub viewers_50: ViewersFigures,
    /// With fifty viewers, while nothing else changes.
    pub event_to_screen_p95_ms: f64,
    /// The same at 100 changes a second.
    pub event_to_screen_busy_p95_ms: f64,
    /// Only for a run with ten minutes of changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heap_mb_after_10_min: Option<f64>,
    pub logs_5000: LogFigures,
    pub rounds: Rounds,
}

impl Report {
    /// Combines the parts.
    pub fn new(
        machine: Machine,
        load: Load,
        figures: Figures,
        following: Following,
        is_quick: bool,
    ) -> Self {
        let last = figures.changing.memory.last().map(Memory::heap_mb);
        Self {
            machine,
            load,
            browser: figures.browser,
            is_quick,
            cluster: figures.filled,
            first_page: first_page(&figures.first_pages),
            list_10000: ListFigures::new(
                &figures.first_rows,
                &figures.filters,
                &figures.sorts,
                figures.memory,
            ),
            viewers_50: ViewersFigures {
                watches: figures.viewing.watches,
                server_rss_mb: figures.viewing.rss_mb.iter().copied().fold(0.0, f64::max),
            },
            event_to_screen_p95_ms: p95(&figures.event_to_screen.quiet_ms),
            event_to_screen_busy_p95_ms: p95(&figures.event_to_screen.busy_ms),
            heap_mb_after_10_min: last.filter(|_| figures.changing.seconds >= TEN_MINUTES),
            logs_5000: LogFigures::new(&following),
            rounds: Rounds {
                first_page: figures.first_pages,
                first_rows: figures.first_rows,
                filter: figures.filters,
                sort: figures.sorts,
                memory: figures.memory,
                viewers: figures.viewing,
                event_to_screen: figures.event_to_screen,
                changes: figures.changing,
                log: following,
            },
        }
    }
}

fn first_page(rounds: &[FirstPage]) -> FirstPageFigures {
    let of = |network: Option<Network>, value: fn(&FirstPage) -> f64| {
        let rounds = rounds.iter();
        let chosen = rounds.filter(|round| network.is_none_or(|network| round.network == network));
        median(&chosen.map(value).collect::<Vec<_>>())
    };
    FirstPageFigures {
        bytes_brotli: of(None, |round| round.bytes as f64),
        requests: of(None, |round| round.requests as f64),
        fcp_ms_slow: of(Some(Network::Slow), |round| round.fcp_ms),
        fcp_ms_medium: of(Some(Network::Medium), |round| round.fcp_ms),
        interactive_ms_slow: of(Some(Network::Slow), |round| round.interactive_ms),
        interactive_ms_medium: of(Some(Network::Medium), |round| round.interactive_ms),
    }
}

impl ListFigures {
    fn new(
        first_rows: &[FirstRows],
        filters: &[Interaction],
        sorts: &[Interaction],
        memory: Memory,
    ) -> Self {
        let rows = |is_shared| {
            let rounds = first_rows
                .iter()
                .filter(|round| round.is_shared == is_shared);
            median(&rounds.map(|round| round.first_rows_ms).collect::<Vec<_>>())
        };
        let shown = |rounds: &[Interaction]| {
            median(
                &rounds
                    .iter()
                    .map(|round| round.shown_ms)
                    .collect::<Vec<_>>(),
            )
        };
        let answered = |rounds: &[Interaction]| {
            median(
                &rounds
                    .iter()
                    .filter_map(|round| round.answer_ms)
                    .collect::<Vec<_>>(),
            )
        };
        let tasks = filters
            .iter()
            .chain(sorts)
            .map(|round| round.longest_task_ms);
        Self {
            first_rows_ms: rows(false),
            first_rows_shared_ms: rows(true),
            filter_ms: shown(filters),
            filter_answer_ms: answered(filters),
            sort_ms: shown(sorts),
            sort_answer_ms: answered(sorts),
            longest_task_ms: tasks.fold(0.0, f64::max),
            heap_mb: memory.heap_mb(),
            wasm_mb: memory.wasm_mb,
            dom_nodes: memory.dom_nodes,
        }
    }
}

/// Returns the value that 95 of 100 do not exceed (nearest rank).
fn p95(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() * 95).div_ceil(100);
    let place = rank.saturating_sub(1);
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// Writes `panel.json`, `panel.svg` and the results in `panel.md`.
pub fn write(report: &Report, folder: &Path) -> Result<()> {
    report::write(
        folder,
        "panel",
        report,
        Some(&plot::svg(report)?),
        &report.table(),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
mod tests;
