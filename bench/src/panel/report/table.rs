//! The results as Markdown, which is readable in a terminal too.
use super::Report;
use std::fmt::Write as _;

/// A figure beside Headlamp's, which was measured elsewhere.
pub(super) type Beside = (&'static str, String, &'static str);

/// A target: a name, the target value, the measured value, and whether it is reached.
pub(super) type Target = (&'static str, &'static str, String, bool);

impl Report {
    /// Returns all figures.
    pub fn table(&self) -> String {
        // writing to a String cannot fail
        let mut text = String::new();
        let (machine, cluster) = (&self.machine, &self.cluster);
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
        let _ = writeln!(
            text,
            "The cluster had {} pods of {:.1} kB, {} nodes, {} namespaces and {} events, created in {:.0} s.\n",
            cluster.pods,
            cluster.pod_bytes as f64 / 1000.0,
            cluster.nodes,
            cluster.namespaces,
            cluster.events,
            cluster.seconds
        );
        text.push_str("| | Portico | Headlamp 0.45.0, measured elsewhere |\n|---|---:|---:|\n");
        for (name, measured, other) in self.beside().into_iter().chain(self.logs_5000.beside()) {
            let _ = writeln!(text, "| {name} | {measured} | {other} |");
        }
        text.push_str("\n| to reach | measured | |\n|---|---|---|\n");
        let targets = self.targets().into_iter();
        for (name, target, measured, reached) in targets.chain(self.logs_5000.targets()) {
            let mark = if reached { "reached" } else { "**missed**" };
            let _ = writeln!(text, "| {name}: {target} | {measured} | {mark} |");
        }
        text
    }

    fn beside(&self) -> Vec<Beside> {
        let (page, list, viewers) = (&self.first_page, &self.list_10000, &self.viewers_50);
        let changes = &self.rounds.changes;
        let after = changes
            .memory
            .last()
            .map_or(f64::NAN, |memory| memory.heap_mb());
        vec![
            (
                "first page, compressed",
                kilobytes(page.bytes_brotli),
                "1,630 kB",
            ),
            (
                "requests of the first page",
                format!("{:.0}", page.requests),
                "22 to 23",
            ),
            (
                "first paint, 1.6 Mbit/s, 150 ms, CPU ÷ 4",
                milliseconds(page.fcp_ms_slow),
                "12,600 ms",
            ),
            (
                "first paint, 10 Mbit/s, 40 ms, CPU ÷ 4",
                milliseconds(page.fcp_ms_medium),
                "5,900 ms",
            ),
            (
                "interactive, 1.6 Mbit/s, 150 ms, CPU ÷ 4",
                milliseconds(page.interactive_ms_slow),
                "not before 12,600 ms",
            ),
            (
                "interactive, 10 Mbit/s, 40 ms, CPU ÷ 4",
                milliseconds(page.interactive_ms_medium),
                "not before 5,900 ms",
            ),
            (
                "10,000 pods: first rows, not watched before",
                milliseconds(list.first_rows_ms),
                "2,800 ms for the first 1,000",
            ),
            (
                "10,000 pods: first rows, watched for another viewer",
                milliseconds(list.first_rows_shared_ms),
                "–",
            ),
            (
                "filter over all rows, from the keystroke to the rows",
                milliseconds(list.filter_ms),
                "1,180 ms, over 2,000 loaded",
            ),
            (
                "… from the request to its answer",
                milliseconds(list.filter_answer_ms),
                "–",
            ),
            (
                "sort all rows, from the click to the rows",
                milliseconds(list.sort_ms),
                "880 ms, over 2,000 loaded",
            ),
            (
                "… from the request to its answer",
                milliseconds(list.sort_answer_ms),
                "–",
            ),
            (
                "longest task of filtering and sorting",
                longest(list.longest_task_ms),
                "1,180 ms",
            ),
            (
                "heap of the tab, WASM memory included",
                format!("{:.1} MB ({:.1} MB WASM)", list.heap_mb, list.wasm_mb),
                "131 MB with all rows loaded",
            ),
            (
                "elements of the document",
                list.dom_nodes.to_string(),
                "about 1,300",
            ),
            (
                "watches of 50 viewers of one list",
                viewers.watches.to_string(),
                "50, by its design",
            ),
            (
                "server with 50 viewers, all roles",
                format!("{:.0} MB", viewers.server_rss_mb),
                "–",
            ),
            (
                "change to screen, p95",
                milliseconds(self.event_to_screen_p95_ms),
                "–",
            ),
            (
                "change to screen at 100 changes/s, p95",
                milliseconds(self.event_to_screen_busy_p95_ms),
                "–",
            ),
            (
                "heap after changes",
                format!(
                    "{after:.1} MB after {} s at {:.0}/s",
                    changes.seconds, changes.per_second
                ),
                "–",
            ),
        ]
    }

    fn targets(&self) -> Vec<Target> {
        let (page, list, viewers) = (&self.first_page, &self.list_10000, &self.viewers_50);
        let after = self.heap_mb_after_10_min;
        let most = |value: f64, bound: f64| (milliseconds(value), value <= bound);
        let mut targets = vec![(
            "first page",
            "350 kB in 8 requests",
            format!("{} in {:.0}", kilobytes(page.bytes_brotli), page.requests),
            page.bytes_brotli <= 350_000.0 && page.requests <= 8.0,
        )];
        for (name, target, (measured, reached)) in [
            (
                "first paint, 1.6 Mbit/s and CPU ÷ 4",
                "1,500 ms",
                most(page.fcp_ms_slow, 1_500.0),
            ),
            (
                "interactive, the same",
                "3,000 ms",
                most(page.interactive_ms_slow, 3_000.0),
            ),
            (
                "first rows of 10,000 pods",
                "500 ms",
                most(list.first_rows_ms, 500.0),
            ),
            (
                "filter over all rows, to the rows on the screen",
                "100 ms",
                most(list.filter_ms, 100.0),
            ),
            (
                "sort over all rows, to the rows on the screen",
                "100 ms",
                most(list.sort_ms, 100.0),
            ),
            (
                "change to screen, p95",
                "1,000 ms",
                most(self.event_to_screen_p95_ms, 1_000.0),
            ),
        ] {
            targets.push((name, target, measured, reached));
        }
        targets.extend([
            (
                "tasks of filtering and sorting",
                "none over 50 ms",
                longest(list.longest_task_ms),
                list.longest_task_ms <= 50.0,
            ),
            (
                "heap of the tab with 10,000 pods",
                "40 MB",
                format!("{:.1} MB", list.heap_mb),
                list.heap_mb <= 40.0,
            ),
            (
                "heap after 10 minutes at 100 changes/s",
                "40 MB",
                after.map_or_else(
                    || "not measured".to_owned(),
                    |after| format!("{after:.1} MB"),
                ),
                after.is_some_and(|after| after <= 40.0),
            ),
            (
                "watches of 50 viewers",
                "one",
                viewers.watches.to_string(),
                viewers.watches == 1,
            ),
            (
                "memory of the server with 50 viewers",
                "300 MB",
                format!("{:.0} MB", viewers.server_rss_mb),
                viewers.server_rss_mb <= 300.0,
            ),
        ]);
        targets
    }
}

fn kilobytes(bytes: f64) -> String {
    format!("{:.0} kB", bytes / 1000.0)
}

pub(super) fn longest(task_ms: f64) -> String {
    if task_ms > 0.0 {
        milliseconds(task_ms)
    } else {
        "none over 50 ms".to_owned()
    }
}

pub(super) fn milliseconds(value: f64) -> String {
    if value.is_finite() {
        format!("{} ms", thousands(value))
    } else {
        "–".to_owned()
    }
}

/// Returns a whole number with commas between thousands.
pub(super) fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
