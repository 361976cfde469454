//! The committed results are complete, and so are those of a run.
use super::*;
use serde_json::Value;

const COMMITTED: &str = include_str!("../../../../docs/performance/panel.json");
const PAGE: &str = include_str!("../../../../docs/performance/panel.md");

#[test]
fn the_committed_results_have_every_figure() {
    let results: Value = serde_json::from_str(COMMITTED).unwrap();
    // where nothing is committed the page must not look as if something were
    if results == serde_json::json!({}) {
        assert!(PAGE.contains("No results are committed yet"));
        return;
    }
    assert_eq!(results["is_quick"], false, "a quick run was committed");
    assert!(
        results["commit"]
            .as_str()
            .is_some_and(|commit| !commit.ends_with("-dirty"))
    );
    assert_complete(&results);
    assert_has_log(&results);
}

/// That nothing is missing of the results of a whole run.
fn assert_complete(results: &Value) {
    let number = |pointer: &str| {
        let found = results.pointer(pointer).and_then(Value::as_f64);
        assert!(
            found.is_some_and(|found| found > 0.0),
            "{pointer}: {found:?}"
        );
    };
    for pointer in [
        "/first_page/bytes_brotli",
        "/first_page/requests",
        "/first_page/fcp_ms_slow",
        "/first_page/fcp_ms_medium",
        "/first_page/interactive_ms_slow",
        "/list_10000/first_rows_ms",
        "/list_10000/filter_ms",
        "/list_10000/sort_ms",
        "/list_10000/heap_mb",
        "/list_10000/dom_nodes",
        "/viewers_50/watches",
        "/viewers_50/server_rss_mb",
        "/event_to_screen_p95_ms",
        "/heap_mb_after_10_min",
        "/cores",
    ] {
        number(pointer);
    }
    // 0: none was longer than 50 ms
    assert!(results["list_10000"]["longest_task_ms"].is_number());
    assert!(results["list_10000"]["wasm_mb"].as_f64() > Some(0.0));
    for (pointer, count) in [
        ("/cluster/pods", 10_000),
        ("/cluster/nodes", 1_000),
        ("/cluster/namespaces", 200),
        ("/cluster/events", 10_000),
        ("/rounds/viewers/viewers", 50),
    ] {
        assert_eq!(
            results.pointer(pointer),
            Some(&Value::from(count)),
            "{pointer}"
        );
    }
    for pointer in ["/commit", "/cpu", "/date", "/kernel", "/browser"] {
        let text = results.pointer(pointer).and_then(Value::as_str);
        assert!(text.is_some_and(|text| !text.is_empty()), "{pointer}");
    }
    assert!(results["load"]["before"].is_number());
    for rounds in ["first_page", "first_rows", "filter", "sort"] {
        let found = results["rounds"][rounds].as_array().map_or(0, Vec::len);
        assert!(found >= 5, "{found} rounds of {rounds}");
    }
}

/// That the log was followed for ten minutes.
fn assert_has_log(results: &Value) {
    for figure in ["heap_mb", "tab_rss_mb", "lines_received", "server_rss_mb"] {
        let found = results["logs_5000"][figure].as_f64();
        assert!(found > Some(0.0), "{figure}: {found:?}");
    }
    assert!(results["logs_5000"]["seconds"].as_u64() >= Some(TEN_MINUTES));
    assert!(results["logs_5000"]["lines_lost"].is_u64());
    assert!(results["logs_5000"]["longest_task_ms"].is_number());
}

fn page(network: Network, round: f64) -> FirstPage {
    FirstPage {
        network,
        bytes: 300_000,
        requests: 7,
        fcp_ms: if network == Network::Slow {
            900.0
        } else {
            400.0
        } + round,
        interactive_ms: 2_000.0 + round,
        settled_bytes: 301_000,
        files: vec!["/pkg/app.wasm 250000".to_owned()],
    }
}

fn interaction(shown_ms: f64) -> Interaction {
    Interaction {
        shown_ms,
        answer_ms: Some(shown_ms / 2.0),
        longest_task_ms: 0.0,
        count: String::new(),
    }
}

pub(super) const MEMORY: Memory = Memory {
    js_heap_mb: 10.0,
    wasm_mb: 6.0,
    dom_nodes: 900,
};

/// Five rounds of everything; round N takes N milliseconds longer.
fn figures(seconds: u64) -> Figures {
    let rounds = [0.0, 1.0, 2.0, 3.0, 4.0];
    Figures {
        browser: "Chromium 1".to_owned(),
        filled: Filled {
            pods: 10_000,
            nodes: 1_000,
            namespaces: 200,
            events: 10_000,
            pod_bytes: 4_500,
            seconds: 40.0,
        },
        first_pages: rounds
            .iter()
            .flat_map(|round| [page(Network::Slow, *round), page(Network::Medium, *round)])
            .collect(),
        first_rows: [false, true]
            .into_iter()
            .flat_map(|is_shared| {
                let base = if is_shared { 200.0 } else { 400.0 };
                rounds.map(move |round| FirstRows {
                    is_shared,
                    first_rows_ms: base + round,
                    bytes: 50_000,
                })
            })
            .collect(),
        filters: rounds.map(|round| interaction(60.0 + round)).to_vec(),
        sorts: rounds.map(|round| interaction(120.0 + round)).to_vec(),
        memory: MEMORY,
        viewing: Viewing {
            viewers: 50,
            users: 5,
            watches: 1,
            shared_watches: 1,
            rss_before_mb: 80.0,
            rss_mb: vec![120.0, 150.0, 140.0],
            changes_per_second: 100.0,
            messages: 1_000,
        },
        event_to_screen: EventToScreen {
            quiet_ms: (1..=100).map(f64::from).collect(),
            busy_ms: vec![300.0],
        },
        changing: Changing {
            seconds,
            per_second: 99.9,
            memory: vec![MEMORY; 3],
        },
    }
}

fn following(seconds: u64) -> Following {
    Following {
        seconds,
        samples: logs::tests::samples(seconds),
        server_rss_mb: vec![90.0, 95.0],
    }
}

fn report(seconds: u64, is_quick: bool) -> Report {
    let machine = Machine {
        commit: "0123456".to_owned(),
        date: "2026-01-31".to_owned(),
        cpu: "AMD EPYC (family 25, model 1)".to_owned(),
        cores: 2,
        kernel: "6.1".to_owned(),
    };
    let load = Load {
        before: 0.5,
        after: 1.5,
    };
    Report::new(
        machine,
        load,
        figures(seconds),
        following(seconds),
        is_quick,
    )
}

#[test]
fn a_run_reports_every_figure() {
    let results = serde_json::to_value(report(600, false)).unwrap();
    assert_complete(&results);
    assert_has_log(&results);
}

#[test]
fn the_headline_is_the_median_of_the_rounds_and_the_most_memory() {
    let report = report(600, false);
    assert_eq!(report.first_page.fcp_ms_slow, 902.0);
    assert_eq!(report.first_page.fcp_ms_medium, 402.0);
    assert_eq!(report.list_10000.first_rows_ms, 402.0);
    assert_eq!(report.list_10000.first_rows_shared_ms, 202.0);
    assert_eq!(report.list_10000.heap_mb, 16.0);
    assert_eq!(report.viewers_50.server_rss_mb, 150.0);
    assert_eq!(report.event_to_screen_p95_ms, 95.0);
}

#[test]
fn a_target_is_marked_by_its_measured_value() {
    let table = report(600, false).table();
    for row in [
        "| first page: 350 kB in 8 requests | 300 kB in 7 | reached |",
        "| interactive, the same: 3,000 ms | 2,002 ms | reached |",
        "| filter over all rows, to the rows on the screen: 100 ms | 62 ms | reached |",
        "| sort over all rows, to the rows on the screen: 100 ms | 122 ms | **missed** |",
        "| tasks of filtering and sorting: none over 50 ms | none over 50 ms | reached |",
        "| heap after 10 minutes at 100 changes/s: 40 MB | 16.0 MB | reached |",
        "| watches of 50 viewers: one | 1 | reached |",
    ] {
        assert!(table.contains(row), "{row} in {table}");
    }
}

#[test]
fn figures_of_others_are_marked_as_measured_elsewhere() {
    let table = report(600, false).table();
    assert!(table.contains("| | Portico | Headlamp 0.45.0, measured elsewhere |"));
    assert!(table.contains("| first paint, 1.6 Mbit/s, 150 ms, CPU ÷ 4 | 902 ms | 12,600 ms |"));
}

#[test]
fn a_quick_run_is_marked_and_has_no_figure_of_ten_minutes() {
    let quick = report(20, true);
    let table = quick.table();
    assert!(table.starts_with("**A quick run"));
    assert!(
        table.contains("100 changes/s: 40 MB | not measured | **missed** |"),
        "{table}"
    );
    let json = serde_json::to_value(quick).unwrap();
    assert!(json.get("heap_mb_after_10_min").is_none());
    assert_eq!(json["is_quick"], true);
}

#[test]
fn the_picture_has_every_target() {
    let svg = plot::svg(&report(600, false)).unwrap();
    for name in [
        "first paint, slow",
        "server memory",
        "change to screen",
        "heap, log",
    ] {
        assert!(svg.contains(name), "{name}");
    }
}
