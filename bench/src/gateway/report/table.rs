//! The results as Markdown, which is readable in a terminal too.
use super::ratio::Ratio;
use super::{Figures, Report, SUBJECTS, Subject};
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
        type Pick = fn(&Subject) -> &Figures;
        let tables: [(&str, Pick); 3] = [
            ("1 KiB", |of| &of.small),
            ("1 KiB, client wrk", |of| &of.wrk),
            ("1 MiB", |of| &of.one_mib),
        ];
        for (title, figures) in tables {
            let _ = writeln!(
                text,
                "| {title}, {} connections | CPU µs a request | requests/s | p50 ms | p99 ms | memory MB | anonymous MB |",
                self.connections
            );
            text.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
            for (subject, name) in SUBJECTS {
                row(&mut text, name, figures(self.of(subject)));
            }
            text.push('\n');
        }
        text.push_str(&self.ratios());
        text.push_str("| to reach | measured | |\n|---|---|---|\n");
        for (name, target, measured, reached) in self.targets() {
            let mark = if reached { "reached" } else { "**missed**" };
            let _ = writeln!(text, "| {name}: {target} | {measured} | {mark} |");
        }
        text
    }

    /// Returns CPU time and instructions of the gateway with either log format, beside nginx by
    /// either client.
    fn ratios(&self) -> String {
        let mut text = format!(
            "| Portico beside nginx on {}, 1 KiB | CPU, times nginx | the same, client wrk \
             | instructions a request | times nginx |\n|---|---:|---:|---:|---:|\n",
            self.machine.cpu
        );
        let counts = &self.instructions;
        let nginx = counts.nginx_proxy;
        let of = |subject: &str| {
            let found = SUBJECTS.iter().find(|(name, _)| *name == subject);
            found.map_or("", |(_, name)| name)
        };
        let _ = writeln!(text, "| {} | 1 | 1 | {nginx} | 1 |", of("nginx_proxy"));
        let times = &self.times_nginx;
        for (subject, times, count) in [
            ("gateway", &times.json_log, counts.json_log),
            ("gateway_human_log", &times.human_log, counts.human_log),
        ] {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {count} | {:.2} |",
                of(subject),
                ratio(&times.ours),
                ratio(&times.wrk),
                count as f64 / nginx as f64
            );
        }
        text.push('\n');
        text
    }

    fn targets(&self) -> Vec<Target> {
        let cpu = self.gateway.small.cpu_us_per_request;
        let instructions = self.instructions.json_log;
        let of_apache = cpu / self.mod_auth_openidc.small.cpu_us_per_request;
        let (storm, sockets) = (&self.refresh_storm, &self.websockets);
        let rss = self.gateway.small.rss_mb.max(self.gateway.one_mib.rss_mb);
        let slowest = self.revocations.iter().map(|one| one.milliseconds);
        let slowest = slowest.fold(0.0, f64::max);
        let gateways = match sockets.processes {
            1 => "one gateway".to_owned(),
            many => format!("{many} gateways together"),
        };
        vec![
            (
                "user-space instructions of an authenticated request of 1 KiB, JSON log",
                "80,000",
                instructions.to_string(),
                instructions <= 80_000,
            ),
            (
                "CPU of the same beside mod_auth_openidc",
                "a third",
                format!("{of_apache:.2}"),
                of_apache <= 1.0 / 3.0,
            ),
            (
                "memory under load",
                "40 MB",
                format!("{rss:.1} MB"),
                rss <= 40.0,
            ),
            (
                "memory with 10,000 idle WebSockets",
                "under 200 MB",
                format!(
                    "{:.0} MB with {} at {gateways}",
                    sockets.rss_mb, sockets.count
                ),
                self.websockets_10000_rss_mb.is_some_and(|mb| mb < 200.0),
            ),
            (
                "200 parallel requests when a refresh is due",
                "one refresh, no user signed out",
                format!(
                    "{} requests: {} refreshes, {} signed out",
                    storm.parallel, storm.refreshes, storm.sign_outs
                ),
                storm.refreshes == 1 && storm.sign_outs == 0,
            ),
            (
                "a session that is ended under load",
                "opens nothing after a second",
                format!("nothing after {slowest:.1} ms at the latest"),
                slowest <= 1000.0,
            ),
        ]
    }
}

/// Returns the median, and the range of half of the rounds.
fn ratio(ratio: &Ratio) -> String {
    format!(
        "{:.2} ({:.2} to {:.2})",
        ratio.median, ratio.lower_quartile, ratio.upper_quartile
    )
}

fn row(text: &mut String, name: &str, figures: &Figures) {
    let _ = writeln!(
        text,
        "| {name} | {:.1} | {:.0} | {:.2} | {:.2} | {:.1} | {:.1} |",
        figures.cpu_us_per_request,
        figures.requests_per_second,
        figures.p50_ms,
        figures.p99_ms,
        figures.rss_mb,
        figures.anonymous_mb
    );
}
