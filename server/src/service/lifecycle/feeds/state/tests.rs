//! Tests of how long viewers wait.
use super::*;

#[tokio::test(start_paused = true)]
async fn a_page_waits_until_the_answer_that_it_shares_is_too_old_for_it() {
    let second = Duration::from_secs(1);
    let mut state = State::default();
    assert_eq!(state.refresh_pause(second), None);
    state.pass();
    for (elapsed, expected) in [(0, 3_300), (1, 2_300), (4, 300)] {
        tokio::time::advance(second * elapsed).await;
        let pause = state.refresh_pause(second);
        assert_eq!(pause.map(|pause| pause.as_millis()), Some(expected));
    }
    // nothing is newer than the last known state
    state.outage = Some("Magnum does not answer.".to_owned());
    assert_eq!(state.refresh_pause(second), None);
}

#[tokio::test(start_paused = true)]
async fn a_viewer_asks_again_when_the_next_answer_is_expected() {
    let (second, now) = (Duration::from_secs(1), Timestamp::UNIX_EPOCH);
    let mut state = State::default();
    state.pass();
    for (elapsed, expected) in [(0, 15_300), (11, 4_300), (9, 300)] {
        tokio::time::advance(second * elapsed).await;
        let pause = state.viewer_pause(second, now);
        assert_eq!(pause.as_millis(), expected);
    }
}
