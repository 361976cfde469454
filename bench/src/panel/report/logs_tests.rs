use super::super::tests::MEMORY;
use super::*;
use crate::panel::figures::Memory;

/// Ten samples of a source that prints 5,000 lines a second, of which Portico skips a tenth; the
/// second one has the most memory and a long task.
pub fn samples(seconds: u64) -> Vec<LogSample> {
    let printed = seconds * LINES_PER_SECOND / 10;
    let sample = |number: u64| LogSample {
        seconds: seconds as f64 / 10.0,
        printed,
        received: printed / 10 * 9,
        skipped: printed / 10,
        newest: printed * number,
        newest_shown: printed * number - 600,
        lines_shown: 5_050,
        longest_silence_ms: 170.0,
        frame_p99_ms: 17.0,
        longest_frame_ms: 33.0,
        slow_frames: 0,
        long_tasks_ms: Vec::new(),
        memory: MEMORY,
        tab_rss_mb: 120.0,
    };
    let mut samples: Vec<LogSample> = (1..=10).map(sample).collect();
    samples[1] = LogSample {
        long_tasks_ms: vec![51.0, 80.0],
        memory: Memory {
            js_heap_mb: 12.0,
            ..MEMORY
        },
        tab_rss_mb: 130.0,
        ..samples[1].clone()
    };
    samples
}

fn figures(seconds: u64, change: impl Fn(&mut LogSample)) -> LogFigures {
    let mut samples = samples(seconds);
    samples.iter_mut().for_each(change);
    LogFigures::new(&Following {
        seconds,
        samples,
        server_rss_mb: vec![90.0, 95.0, 93.0],
    })
}

#[test]
fn memory_is_the_most_and_lines_are_the_sum_of_all_samples() {
    let figures = figures(600, |_| ());
    assert_eq!(figures.heap_mb, 18.0);
    assert_eq!(figures.tab_rss_mb, 130.0);
    assert_eq!(figures.server_rss_mb, 95.0);
    assert_eq!(figures.lines_per_second, 5_000.0);
    assert_eq!(figures.lines_received, 2_700_000);
    assert_eq!(figures.lines_skipped, 300_000);
    assert_eq!(figures.lines_lost, 0);
    assert_eq!((figures.long_tasks, figures.longest_task_ms), (2, 80.0));
}

#[test]
fn a_line_that_is_neither_received_nor_reported_as_skipped_is_lost() {
    assert_eq!(figures(600, |sample| sample.skipped -= 3).lines_lost, 30);
}

#[test]
fn a_shorter_run_or_a_slower_source_has_not_measured_the_heap() {
    let is_reached = |figures: LogFigures| figures.targets().map(|(_, _, _, reached)| reached);
    // the tasks of 51 and 80 ms
    assert_eq!(is_reached(figures(600, |_| ())), [true, false]);
    let shorter = figures(60, |_| ());
    assert_eq!(shorter.seconds, 60);
    let slower = figures(600, |sample| sample.printed /= 2);
    for figures in [shorter, slower] {
        for (name, _, measured, reached) in figures.targets() {
            assert_eq!(
                (measured.as_str(), reached),
                ("not measured", false),
                "{name}"
            );
        }
    }
}

#[test]
fn the_table_names_the_seconds_and_the_rate() {
    let table = figures(60, |_| ()).table();
    assert!(
        table.contains(
            "| log of 5,000 lines/s: heap of the tab | 18.0 MB in 60 s at 5,000 lines/s |"
        ),
        "{table}"
    );
    assert!(
        table.contains("| … lines received, skipped, lost | 270,000, 30,000, 0 |"),
        "{table}"
    );
}
