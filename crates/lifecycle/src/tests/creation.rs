//! Creations that are carried out once.
use std::{
    collections::VecDeque,
    pin::pin,
    task::{Context, Poll, Waker},
};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::{
    creation::{CreationEnvironment, CreationError, ListError, SendError, create_once},
    idempotency::{Attempt, Candidate, Delivery, LostResponse, MARKER_LABEL},
};

/// A Magnum, a storage and a clock. Without prepared answers, there are no clusters, and requests are
/// accepted.
struct Fake {
    seconds: i64,
    /// How long a request takes.
    send_seconds: i64,
    lists: VecDeque<Result<Vec<Candidate>, ListError<&'static str>>>,
    sends: VecDeque<Result<String, SendError<&'static str>>>,
    is_recorded: bool,
    stored: Option<Attempt>,
    calls: Vec<&'static str>,
    requests: Vec<Map<String, Value>>,
}

impl Fake {
    fn new() -> Self {
        Self {
            seconds: 0,
            send_seconds: 0,
            lists: VecDeque::new(),
            sends: VecDeque::new(),
            is_recorded: true,
            stored: None,
            calls: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// Runs a creation with the stored attempt, or a new one.
    fn run(&mut self) -> Result<String, CreationError<&'static str>> {
        let attempt = self.stored.clone();
        let attempt = attempt.unwrap_or_else(|| Attempt::new("m1", "shop"));
        let request = Map::new();
        let mut creation = pin!(create_once(self, attempt, &request));
        let mut context = Context::from_waker(Waker::noop());
        match creation.as_mut().poll(&mut context) {
            Poll::Ready(result) => result,
            Poll::Pending => panic!("nothing waits here"),
        }
    }
}

impl CreationEnvironment for Fake {
    type Error = &'static str;

    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + self.seconds).unwrap()
    }

    async fn sleep_until(&mut self, at: Timestamp) {
        self.seconds = at.as_second() - 1_800_000_000;
    }

    async fn clusters(&mut self) -> Result<Vec<Candidate>, ListError<&'static str>> {
        self.lists.pop_front().unwrap_or_else(|| Ok(Vec::new()))
    }

    async fn send(
        &mut self,
        request: Map<String, Value>,
    ) -> Result<String, SendError<&'static str>> {
        self.calls.push("send");
        self.seconds += self.send_seconds;
        self.requests.push(request);
        self.sends
            .pop_front()
            .unwrap_or_else(|| Ok("u1".to_owned()))
    }

    async fn is_recorded(&mut self, _: &str) -> Result<bool, &'static str> {
        self.calls.push("record");
        Ok(self.is_recorded)
    }

    async fn store(&mut self, attempt: &Attempt) -> Result<(), &'static str> {
        self.calls.push("store");
        self.stored = Some(attempt.clone());
        Ok(())
    }

    async fn forget(&mut self) -> Result<(), &'static str> {
        self.calls.push("forget");
        self.stored = None;
        Ok(())
    }

    fn note_lost(&mut self, _: &&'static str) {
        self.calls.push("lost");
    }
}

fn ours() -> Candidate {
    Candidate {
        uuid: "u2".to_owned(),
        name: "shop".to_owned(),
        marker: Some("m1".to_owned()),
        created_at: None,
    }
}

#[test]
fn the_attempt_is_stored_before_the_request_and_until_the_record() {
    let mut fake = Fake::new();
    assert_eq!(fake.run(), Ok("u1".to_owned()));
    assert_eq!(fake.calls, ["store", "send", "store", "record", "forget"]);
    assert_eq!(fake.requests[0]["labels"][MARKER_LABEL], "m1");
    assert_eq!(fake.stored, None);
}

#[test]
fn an_accepted_request_without_a_record_is_not_sent_again() {
    let mut fake = Fake::new();
    fake.is_recorded = false;
    for _ in 0..3 {
        assert_eq!(fake.run(), Err(CreationError::NotRecorded("u1".to_owned())));
        let delivery = fake.stored.as_ref().map(|stored| stored.delivery.clone());
        assert_eq!(delivery, Some(Delivery::Accepted("u1".to_owned())));
    }
    fake.is_recorded = true;
    // also while Magnum cannot list
    fake.lists.push_back(Err(ListError::Outage("503")));
    assert_eq!(fake.run(), Ok("u1".to_owned()));
    assert_eq!(fake.requests.len(), 1);
}

#[test]
fn a_lost_response_is_looked_for_and_the_user_decides_in_the_end() {
    let mut fake = Fake::new();
    fake.sends.push_back(Err(SendError::Lost("504")));
    fake.lists = VecDeque::from([Ok(vec![]), Ok(vec![]), Ok(vec![ours()])]);
    assert_eq!(fake.run(), Ok("u2".to_owned()));
    assert_eq!(fake.calls, ["store", "send", "lost", "record", "forget"]);
    let mut fake = Fake::new();
    fake.sends.push_back(Err(SendError::Lost("504")));
    for _ in 0..2 {
        let lost = CreationError::Lost(LostResponse::NothingFound);
        assert_eq!(fake.run(), Err(lost));
        assert!(fake.stored.is_some());
    }
    assert_eq!(fake.requests.len(), 1);
}

#[test]
fn a_request_that_timed_out_is_looked_for_afterwards() {
    let mut fake = Fake::new();
    fake.send_seconds = 65;
    fake.sends.push_back(Err(SendError::Lost("timeout")));
    // Magnum's conductor makes the record 20 s later
    fake.lists = (0..10).map(|_| Ok(vec![])).collect();
    fake.lists.push_back(Ok(vec![ours()]));
    assert_eq!(fake.run(), Ok("u2".to_owned()));
    assert_eq!(fake.requests.len(), 1);
}

#[test]
fn a_refused_request_is_forgotten() {
    let mut fake = Fake::new();
    fake.sends.push_back(Err(SendError::Refused("403")));
    assert_eq!(fake.run(), Err(CreationError::Call("403")));
    assert_eq!(fake.calls, ["store", "send", "forget"]);
}

#[test]
fn nothing_is_sent_without_a_list_and_the_wait_for_one_ends() {
    let outage = || (0..120).map(|_| Err(ListError::Outage("503"))).collect();
    // nothing was sent that could be lost
    let mut fake = Fake::new();
    fake.lists = outage();
    assert_eq!(fake.run(), Err(CreationError::Call("503")));
    assert_eq!((fake.seconds, fake.calls.len()), (0, 0));
    let mut fake = Fake::new();
    let mut sent = Attempt::new("m1", "shop");
    sent.begin_sending(fake.now());
    fake.stored = Some(sent);
    fake.lists = outage();
    assert_eq!(fake.run(), Err(CreationError::Call("503")));
    assert!((185..195).contains(&fake.seconds), "{}", fake.seconds);
    assert!(fake.requests.is_empty());
    let mut fake = Fake::new();
    fake.lists.push_back(Err(ListError::Final("403")));
    assert_eq!(fake.run(), Err(CreationError::Call("403")));
    assert_eq!(fake.calls, [""; 0]);
}
