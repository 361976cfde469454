//! The figures of a followed log.
use super::TEN_MINUTES;
use super::table::{Beside, Target, longest, milliseconds, thousands};
use crate::panel::figures::{Following, LogSample};
use crate::panel::log_source::LINES_PER_SECOND;
use serde::Serialize;
use std::fmt::Write as _;

/// In MB, WASM memory included.
pub const HEAP_TARGET: f64 = 60.0;
/// The share of [`LINES_PER_SECOND`] at which the source counts as fast enough.
const MIN_RATE: f64 = 0.98;

/// A log of 5,000 lines a second, followed for `seconds`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LogFigures {
    pub seconds: u64,
    /// As the container printed them.
    pub lines_per_second: f64,
    /// With WASM memory, after a garbage collection; the most of all samples.
    pub heap_mb: f64,
    /// Of the tab's process, before garbage collections; the most of all samples.
    pub tab_rss_mb: f64,
    pub lines_printed: u64,
    pub lines_received: u64,
    /// Dropped by Portico, which reports their number to the page.
    pub lines_skipped: u64,
    /// Neither received nor reported as skipped.
    pub lines_lost: u64,
    /// In the document at the end.
    pub lines_shown: u64,
    pub longest_silence_ms: f64,
    /// Tasks of more than 50 ms.
    pub long_tasks: usize,
    /// 0: no task took more than 50 ms.
    pub longest_task_ms: f64,
    pub frame_p99_ms: f64,
    pub longest_frame_ms: f64,
    /// The most at any moment.
    pub server_rss_mb: f64,
}

impl LogFigures {
    pub fn new(following: &Following) -> Self {
        let samples = &following.samples;
        let sum = |value: fn(&LogSample) -> u64| samples.iter().map(value).sum::<u64>();
        let most = |value: fn(&LogSample) -> f64| samples.iter().map(value).fold(0.0, f64::max);
        let last = samples.last();
        let (printed, received) = (sum(|sample| sample.printed), sum(|sample| sample.received));
        let skipped = sum(|sample| sample.skipped);
        let tasks = samples.iter().flat_map(|sample| &sample.long_tasks_ms);
        let rss = following.server_rss_mb.iter().copied();
        Self {
            seconds: following.seconds,
            lines_per_second: printed as f64
                / samples.iter().map(|sample| sample.seconds).sum::<f64>(),
            heap_mb: most(|sample| sample.memory.heap_mb()),
            tab_rss_mb: most(|sample| sample.tab_rss_mb),
            lines_printed: printed,
            lines_received: received,
            lines_skipped: skipped,
            lines_lost: printed.saturating_sub(received + skipped),
            lines_shown: last.map_or(0, |sample| sample.lines_shown),
            longest_silence_ms: most(|sample| sample.longest_silence_ms),
            long_tasks: tasks.clone().count(),
            longest_task_ms: tasks.copied().fold(0.0, f64::max),
            frame_p99_ms: last.map_or(f64::NAN, |sample| sample.frame_p99_ms),
            longest_frame_ms: most(|sample| sample.longest_frame_ms),
            server_rss_mb: rss.fold(0.0, f64::max),
        }
    }

    /// Returns the figures as a table.
    pub fn table(&self) -> String {
        // writing to a String cannot fail
        let mut text = String::from("| | Portico |\n|---|---:|\n");
        for (name, measured, _) in self.beside() {
            let _ = writeln!(text, "| {name} | {measured} |");
        }
        text
    }

    pub(super) fn beside(&self) -> Vec<Beside> {
        vec![
            (
                "log of 5,000 lines/s: heap of the tab",
                format!(
                    "{:.1} MB in {} s at {} lines/s",
                    self.heap_mb,
                    self.seconds,
                    thousands(self.lines_per_second)
                ),
                "–",
            ),
            (
                "… memory of the tab's process",
                format!("{:.0} MB", self.tab_rss_mb),
                "–",
            ),
            (
                "… lines received, skipped, lost",
                format!(
                    "{}, {}, {}",
                    thousands(self.lines_received as f64),
                    thousands(self.lines_skipped as f64),
                    thousands(self.lines_lost as f64)
                ),
                "–",
            ),
            (
                "… lines in the document",
                thousands(self.lines_shown as f64),
                "–",
            ),
            (
                "… longest time without new lines",
                milliseconds(self.longest_silence_ms),
                "–",
            ),
            ("… longest task", longest(self.longest_task_ms), "–"),
            (
                "… 99 of 100 frames, and the longest",
                format!(
                    "{}, {}",
                    milliseconds(self.frame_p99_ms),
                    milliseconds(self.longest_frame_ms)
                ),
                "–",
            ),
            (
                "… server, all roles",
                format!("{:.0} MB", self.server_rss_mb),
                "–",
            ),
        ]
    }

    /// Returns the targets. A shorter run, or a slower source, has not measured the heap.
    pub(super) fn targets(&self) -> [Target; 2] {
        let is_fast = self.lines_per_second >= MIN_RATE * LINES_PER_SECOND as f64;
        let is_measured = self.seconds >= TEN_MINUTES && is_fast;
        let measured = |text: String| {
            if is_measured {
                text
            } else {
                "not measured".to_owned()
            }
        };
        [
            (
                "heap of the tab after 10 minutes of a log of 5,000 lines/s",
                "60 MB",
                measured(format!("{:.1} MB", self.heap_mb)),
                is_measured && self.heap_mb <= HEAP_TARGET,
            ),
            (
                "tasks while the log is followed",
                "none over 50 ms",
                measured(longest(self.longest_task_ms)),
                is_measured && self.longest_task_ms <= 50.0,
            ),
        ]
    }
}

#[cfg(test)]
#[path = "logs_tests.rs"]
pub(super) mod tests;
