//! The results: JSON for programs, a table for readers.
use super::driver::Called;
use super::program::Ran;
use super::run::{Effort, Rounds};
use crate::machine::Machine;
use crate::report::{self, Load, median};
use anyhow::Result;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

const MAX_BEHIND_MS: f64 = 3_000.0;
const MAX_FIRST_BYTE_MS: f64 = 300.0;

/// Medians of rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Medians {
    /// From the end of an operation in Magnum to the page that shows it.
    pub behind_ms: f64,
    /// From the start of `portico cluster list` to its first byte, with one cluster.
    pub first_byte_ms: f64,
    /// The whole commands, with all clusters.
    pub program_list_ms: f64,
    pub program_show_ms: f64,
    /// The panel's functions, with all clusters.
    pub panel_list_ms: f64,
    pub panel_list_page_ms: f64,
    pub panel_describe_ms: f64,
}

/// `docs/performance/cluster.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub machine: Machine,
    pub load: Load,
    pub browser: String,
    /// Whether the run shows only that everything works.
    pub is_quick: bool,
    pub clusters: u32,
    pub medians: Medians,
    /// Of the ends of operations the last to be shown.
    pub behind_max_ms: f64,
    pub rounds: Rounds,
}

impl Medians {
    fn new(rounds: &Rounds) -> Self {
        let totals = |runs: &[Ran]| median_of(runs, |run| run.total_ms);
        let answers = |calls: &[Called]| median_of(calls, |call| call.answer_ms);
        Self {
            behind_ms: median_of(&rounds.operations, |round| round.behind_ms),
            first_byte_ms: median_of(&rounds.starts, |run| run.first_byte_ms),
            program_list_ms: totals(&rounds.program_list),
            program_show_ms: totals(&rounds.program_show),
            panel_list_ms: answers(&rounds.panel_list),
            panel_list_page_ms: median_of(&rounds.panel_list_page, |page| page.first_rows_ms),
            panel_describe_ms: answers(&rounds.panel_describe),
        }
    }
}

fn median_of<T>(rounds: &[T], value: impl Fn(&T) -> f64) -> f64 {
    median(&rounds.iter().map(value).collect::<Vec<_>>())
}

impl Report {
    /// Combines the parts.
    pub fn new(
        machine: Machine,
        load: Load,
        browser: String,
        effort: &Effort,
        rounds: Rounds,
    ) -> Self {
        let behind = rounds.operations.iter().map(|round| round.behind_ms);
        Self {
            machine,
            load,
            browser,
            is_quick: effort.is_quick,
            clusters: effort.clusters,
            medians: Medians::new(&rounds),
            behind_max_ms: behind.fold(0.0, f64::max),
            rounds,
        }
    }

    /// Returns all figures.
    pub fn table(&self) -> String {
        // writing to a String cannot fail
        let mut text = String::new();
        let (machine, medians) = (&self.machine, &self.medians);
        if self.is_quick {
            text.push_str("**A quick run: it shows that everything works, not how fast.**\n\n");
        }
        let _ = writeln!(
            text,
            "Commit `{}`, {}; {} cores of {}, Linux {}, {}; load average {:.2} before, {:.2} after.\n",
            machine.commit,
            machine.date,
            machine.cores,
            machine.cpu,
            machine.kernel,
            self.browser,
            self.load.before,
            self.load.after
        );
        let clusters = self.clusters;
        text.push_str("| | median | rounds |\n|---|---:|---:|\n");
        let rounds = &self.rounds;
        for (name, value, count) in [
            (
                "end of an operation in Magnum to the page that shows it".to_owned(),
                medians.behind_ms,
                rounds.operations.len(),
            ),
            (
                "start of `portico cluster list` to its first byte".to_owned(),
                medians.first_byte_ms,
                rounds.starts.len(),
            ),
            (
                format!("`portico cluster list` of {clusters} clusters"),
                medians.program_list_ms,
                rounds.program_list.len(),
            ),
            (
                "`portico cluster show` of one of them".to_owned(),
                medians.program_show_ms,
                rounds.program_show.len(),
            ),
            (
                format!("panel: list of {clusters} clusters, from the request to its answer"),
                medians.panel_list_ms,
                rounds.panel_list.len(),
            ),
            (
                "panel: the same page, from the navigation to its first rows".to_owned(),
                medians.panel_list_page_ms,
                rounds.panel_list_page.len(),
            ),
            (
                "panel: one of them, from the request to its answer".to_owned(),
                medians.panel_describe_ms,
                rounds.panel_describe.len(),
            ),
        ] {
            let _ = writeln!(text, "| {name} | {value:.0} ms | {count} |");
        }
        text.push_str("\n| to reach | measured | |\n|---|---|---|\n");
        for (name, value, bound) in [
            (
                "the page shows the end of an operation within 3,000 ms, the slowest round",
                self.behind_max_ms,
                MAX_BEHIND_MS,
            ),
            (
                "first byte of `portico cluster list` within 300 ms",
                medians.first_byte_ms,
                MAX_FIRST_BYTE_MS,
            ),
        ] {
            // a figure that is missing is not reached
            let mark = if value <= bound {
                "reached"
            } else {
                "**missed**"
            };
            let _ = writeln!(text, "| {name} | {value:.0} ms | {mark} |");
        }
        text
    }
}

/// Writes `cluster.json` and the results in `cluster.md`.
pub fn write(report: &Report, folder: &Path) -> Result<()> {
    report::write(folder, "cluster", report, None, &report.table())
}

#[cfg(test)]
mod tests {
    use super::super::driver::Opened;
    use super::super::run::Shown;
    use super::*;

    fn report(behind: &[f64], first_byte: f64) -> Report {
        let ran = Ran {
            first_byte_ms: first_byte,
            total_ms: 2.0 * first_byte,
        };
        let called = Called {
            answer_ms: 40.0,
            bytes: 1_000,
            clusters: Some(200),
        };
        let machine = Machine {
            commit: "abc".to_owned(),
            date: "2026-11-28".to_owned(),
            cpu: "a processor".to_owned(),
            cores: 2,
            kernel: "6.18".to_owned(),
        };
        let load = Load {
            before: 0.5,
            after: 1.5,
        };
        let effort = Effort {
            is_quick: false,
            clusters: 200,
            operations: 3,
            starts: 1,
            reads: 1,
        };
        let shown = |behind_ms: &f64| Shown {
            behind_ms: *behind_ms,
        };
        let rounds = Rounds {
            operations: behind.iter().map(shown).collect(),
            starts: vec![ran],
            program_list: vec![ran],
            program_show: vec![ran],
            panel_list: vec![called],
            panel_list_page: vec![Opened {
                first_rows_ms: 90.0,
            }],
            panel_describe: vec![called],
        };
        Report::new(machine, load, "Chromium 1".to_owned(), &effort, rounds)
    }

    #[test]
    fn a_target_is_missed_by_the_slowest_operation() {
        let table = report(&[900.0, 1_100.0, 3_100.0], 120.0).table();
        assert!(
            table.contains("page that shows it | 1100 ms | 3 |"),
            "{table}"
        );
        assert!(table.contains("| 3100 ms | **missed** |"), "{table}");
        assert!(table.contains("| 120 ms | reached |"), "{table}");
        assert!(
            table.contains("list` of 200 clusters | 240 ms | 1 |"),
            "{table}"
        );
    }

    #[test]
    fn the_machine_and_its_load_are_named() {
        let table = report(&[900.0], 310.0).table();
        assert!(
            table.contains("2 cores of a processor, Linux 6.18"),
            "{table}"
        );
        assert!(
            table.contains("load average 0.50 before, 1.50 after"),
            "{table}"
        );
        assert!(table.contains("| 310 ms | **missed** |"), "{table}");
    }

    #[test]
    fn raw_rounds_are_in_the_json() {
        let json = serde_json::to_value(report(&[900.0], 120.0)).unwrap();
        assert_eq!(json["rounds"]["operations"][0]["behind_ms"], 900.0);
        assert_eq!(json["rounds"]["panel_list"][0]["answer_ms"], 40.0);
        assert_eq!(json["medians"]["first_byte_ms"], 120.0);
        assert_eq!(json["cpu"], "a processor");
    }
}
