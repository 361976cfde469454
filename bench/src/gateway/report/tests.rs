//! The committed results are complete, and so are those of a run.
use super::*;
use serde_json::Value;

const CPU: &str = "AMD EPYC (family 25, model 1)";

const COMMITTED: &str = include_str!("../../../../docs/performance/gateway.json");
const PAGE: &str = include_str!("../../../../docs/performance/gateway.md");

#[test]
fn finding_o18_the_committed_results_have_every_figure() {
    let results: Value = serde_json::from_str(COMMITTED).unwrap();
    // where nothing is committed the page must not look as if something were
    if results == serde_json::json!({}) {
        assert!(PAGE.contains("No results are committed yet"));
        return;
    }
    assert_complete(&results);
}

/// The figures of each subject and kind of request.
const FIGURES: [&str; 6] = [
    "cpu_us_per_request",
    "requests_per_second",
    "p50_ms",
    "p99_ms",
    "rss_mb",
    "anonymous_mb",
];

/// That nothing is missing of the results of a whole run.
fn assert_complete(results: &Value) {
    let number = |pointer: &str| {
        let found = results.pointer(pointer).and_then(Value::as_f64);
        assert!(
            found.is_some_and(|found| found > 0.0),
            "{pointer}: {found:?}"
        );
    };
    for (subject, _) in SUBJECTS {
        for figure in FIGURES {
            number(&format!("/{subject}/{figure}"));
            number(&format!("/{subject}/one_mib/{figure}"));
        }
        number(&format!("/{subject}/wrk/cpu_us_per_request"));
    }
    for count in ["json_log", "human_log", "nginx_proxy", "requests"] {
        number(&format!("/instructions/{count}"));
    }
    for log in ["json_log", "human_log"] {
        for client in ["portico-bench", "wrk"] {
            for value in ["median", "lower_quartile", "upper_quartile"] {
                number(&format!("/times_nginx/{log}/{client}/{value}"));
            }
        }
    }
    for pointer in [
        "/websockets_10000_rss_mb",
        "/refresh_storm/parallel",
        "/refresh_storm/refreshes",
        "/cores",
    ] {
        number(pointer);
    }
    assert_eq!(results["refresh_storm"]["sign_outs"], 0);
    for pointer in ["/commit", "/cpu", "/date", "/kernel"] {
        let text = results.pointer(pointer).and_then(Value::as_str);
        assert!(text.is_some_and(|text| !text.is_empty()), "{pointer}");
    }
    assert!(results["load"]["before"].is_number());
    let rounds = results["rounds"].as_array().unwrap();
    assert!(
        rounds.len() >= 5 * SUBJECTS.len() * 3,
        "{} rounds",
        rounds.len()
    );
}
/// A round of every kind for every subject. In round N a request takes N times as long as in the first.
fn rounds(count: usize) -> Vec<Round> {
    let mut rounds = Vec::new();
    for number in 1..=count {
        for (client, body) in [
            (Client::Ours, "1k"),
            (Client::Wrk, "1k"),
            (Client::Ours, "1m"),
        ] {
            for (subject, _) in SUBJECTS {
                let cpu = match (subject, client) {
                    ("nginx_proxy", Client::Ours) => 20.0,
                    ("nginx_proxy", Client::Wrk) => 16.0,
                    ("gateway", _) => 32.0,
                    _ => 40.0,
                };
                rounds.push(Round {
                    number,
                    subject,
                    client,
                    body,
                    requests: 1000,
                    seconds: 2.0,
                    requests_per_second: 500.0,
                    p50_ms: 1.0,
                    p99_ms: 2.0,
                    cpu_us_per_request: cpu * number as f64,
                    rss_mb: 30.0,
                    anonymous_mb: 10.0,
                    load: 1.0,
                });
            }
        }
    }
    rounds
}

fn report() -> Report {
    let machine = Machine {
        commit: "0123456".to_owned(),
        date: "2026-01-31".to_owned(),
        cpu: CPU.to_owned(),
        cores: 2,
        kernel: "6.1".to_owned(),
    };
    let load = Load {
        before: 0.5,
        after: 1.5,
    };
    let rest = Rest {
        sockets: Sockets {
            count: 10_000,
            processes: 1,
            rss_mb: 190.0,
        },
        refresh_storm: Storm {
            parallel: 200,
            refreshes: 1,
            sign_outs: 0,
        },
        revocations: Vec::new(),
        instructions: Instructions {
            json_log: 79_000,
            human_log: 90_000,
            nginx_proxy: 20_000,
            requests: 4_000,
        },
    };
    Report::new(machine, load, rounds(5), rest)
}

#[test]
fn finding_o18_a_run_reports_every_figure() {
    assert_complete(&serde_json::to_value(report()).unwrap());
}

#[test]
fn finding_o18_the_table_has_both_logs_both_clients_the_processor_and_instructions() {
    let table = report().table();
    for row in [
        &format!("| Portico beside nginx on {CPU}, "),
        "| nginx, plain proxy | 1 | 1 | 20000 | 1 |",
        "| Portico, JSON log | 1.60 (1.60 to 1.60) | 2.00 (2.00 to 2.00) | 79000 | 3.95 |",
        "| Portico, human log (the default) | 2.00 (2.00 to 2.00) | 2.50 (2.50 to 2.50) | 90000 | 4.50 |",
    ] {
        assert!(table.contains(row), "{row} in {table}");
    }
}
