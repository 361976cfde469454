//! The clocks that tests move.
use jiff::SignedDuration;
use portico_test_support::time::{MovableClock, advance};
use std::time::Duration;

#[tokio::test]
async fn tokios_clock_moves_and_continues() {
    const HOUR: Duration = Duration::from_secs(3600);
    let before = tokio::time::Instant::now();
    let timer = tokio::time::sleep(HOUR);
    advance(HOUR).await;
    assert!(before.elapsed() >= HOUR);
    timer.await;
    let after = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(after.elapsed() < HOUR);
}

#[test]
fn the_time_of_day_moves_in_every_clone() {
    let movable = MovableClock::default();
    let clock = movable.clock();
    let before = clock.now();
    movable.clone().advance(Duration::from_secs(3600));
    assert!(clock.now() >= before + SignedDuration::from_hours(1));
}
