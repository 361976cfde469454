//! The results as Markdown, which is readable in a terminal too.
use super::{Figures, Report};
use std::fmt::Write as _;

/// A target: a name, the target value, the measured value, and whether it is reached.
type Target = (&'static str, &'static str, String, bool);

impl Report {
    /// Returns all figures.
    pub fn table(&self) -> String {
        // writing to a String cannot fail
        let mut text = String::new();
        let machine = &self.machine;
        let _ = writeln!(
            text,
            "Commit `{}`, {}; {} cores of {}, Linux {}; load average {:.2} before, {:.2} after.\n",
            machine.commit,
            machine.date,
            machine.cores,
            machine.cpu,
            machine.kernel,
            self.load.before,
            self.load.after
        );
        text.push_str(
            "| | connections | reviews/s | p50 ms | p99 ms | p99.9 ms | CPU µs a review |\n",
        );
        text.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
        for (connections, echo) in &self.echo {
            row(&mut text, "echo", connections, echo);
            if let Some(cached) = self.cached.get(connections) {
                row(&mut text, "cached", connections, cached);
            }
        }
        row(&mut text, "echo", "1, HTTP/2, 16 streams", &self.echo_http2);
        row(
            &mut text,
            "cached",
            "1, HTTP/2, 16 streams",
            &self.cached_http2,
        );
        text.push_str(
            "\n| cold reviews | calls to Keystone | p50 ms | p99 ms |\n|---|---:|---:|---:|\n",
        );
        for cold in [&self.cold_1_client, &self.cold_500_clients] {
            let clients = match cold.clients {
                1 => "1 client".to_owned(),
                many => format!("{many} clients at once"),
            };
            let _ = writeln!(
                text,
                "| {clients} | {} | {:.1} | {:.1} |",
                cold.keystone_calls, cold.p50_ms, cold.p99_ms
            );
        }
        text.push_str("\n| to reach | measured | |\n|---|---|---|\n");
        for (name, target, measured, reached) in self.targets() {
            let mark = if reached { "reached" } else { "**missed**" };
            let _ = writeln!(text, "| {name}: {target} | {measured} | {mark} |");
        }
        text
    }

    fn targets(&self) -> Vec<Target> {
        let (echo, cached) = (&self.echo["16"], &self.cached["16"]);
        let fastest = self
            .cached
            .values()
            .map(|figures| figures.reviews_per_second)
            .fold(0.0, f64::max);
        let share = cached.reviews_per_second / echo.reviews_per_second;
        let cpu = cached.cpu_us_per_review;
        let (flood, memory) = (&self.flood, &self.memory);
        let calls = self.cold_500_clients.keystone_calls;
        vec![
            (
                "cached reviews with the client on the same cores",
                "15,000/s, or 0.7 of the echo",
                format!("{fastest:.0}/s at most; {share:.2} of the echo at 16 connections"),
                fastest >= 15_000.0 || share >= 0.7,
            ),
            (
                "p99 at 16 connections",
                "under 2 ms",
                format!("{:.2} ms", cached.p99_ms),
                cached.p99_ms < 2.0,
            ),
            (
                "CPU a cached review at 16 connections",
                "40 µs",
                format!("{cpu:.1} µs (echo: {:.1} µs)", echo.cpu_us_per_review),
                cpu <= 40.0,
            ),
            (
                "500 clients of one token",
                "one call to Keystone",
                calls.to_string(),
                calls == 1,
            ),
            (
                "good users' p99 beside a flood of garbage",
                "twice that without, at most",
                format!(
                    "{:.2} times ({:.2} to {:.2} ms, {:.0} pieces of garbage a second, {} calls to Keystone)",
                    flood.p99_ratio,
                    flood.p99_ms_without,
                    flood.p99_ms_with,
                    flood.garbage_per_second,
                    flood.keystone_calls
                ),
                flood.p99_ratio <= 2.0,
            ),
            (
                "memory with 100,000 cached tokens",
                "150 MB",
                format!(
                    "{:.0} MB with {} ({:.0} MB empty; {:.0} % still cached when the last had come)",
                    memory.rss_mb,
                    memory.tokens,
                    memory.rss_mb_empty,
                    memory.still_known * 100.0
                ),
                self.rss_mb_100000_tokens.is_some_and(|mb| mb <= 150.0),
            ),
        ]
    }
}

fn row(text: &mut String, subject: &str, connections: &str, figures: &Figures) {
    let _ = writeln!(
        text,
        "| {subject} | {connections} | {:.0} | {:.2} | {:.2} | {:.2} | {:.1} |",
        figures.reviews_per_second,
        figures.p50_ms,
        figures.p99_ms,
        figures.p99_9_ms,
        figures.cpu_us_per_review
    );
}
