//! Following of a container's log.
use super::{
    REVIEW_INTERVAL,
    log_range::{self, LogRange, RangeReads},
    outbox::{Gone, Outbox},
};
use crate::{
    caller::{
        Caller,
        audit::{self, Outcome},
    },
    kube::{Api, KubeError, logs, objects, reviews},
    service::{Services, error::ServiceError, health},
};
use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use portico_domain::{
    panel::{ObjectRef, Refusal, ResourceRef, RightQuestion},
    stream::{LogQuery, Message, check_log_range},
};
use serde::Deserialize;
use std::{collections::VecDeque, pin::pin, sync::Arc, time::Duration};
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at};
use uuid::Uuid;

/// How often collected lines are sent.
const FLUSH_INTERVAL: Duration = Duration::from_millis(150);
/// Maximum number of lines that wait for a slow browser, as many as a page shows and requests of a time range; older
/// ones are dropped and counted.
const MAX_QUEUED_LINES: usize = 5_000;
/// Maximum size of the lines that wait, in bytes: all users share the memory of the server.
const MAX_QUEUED_BYTES: usize = 4 * 1024 * 1024;
/// How often the log of a container that has not started is requested again.
const START_RETRY_DELAY: Duration = Duration::from_secs(3);
/// Maximum number of lines in one message.
const MAX_BATCH_LINES: usize = 500;
/// Maximum size of the lines in one message, in bytes, unless a single one is longer: many messages wait for
/// a slow browser.
const MAX_BATCH_BYTES: usize = 256 * 1024;

/// How a log ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Log,
    Range,
    /// The lines before the end of the time range are more than are read.
    Limit,
}

impl End {
    fn sentence(self) -> String {
        match self {
            Self::Log => "The log ends here.".to_owned(),
            Self::Range => "The time range ends here.".to_owned(),
            Self::Limit => format!(
                "Only the first {} MiB of the time range were read. Choose a shorter range.",
                logs::MAX_RANGE_BYTES / 1024 / 1024
            ),
        }
    }
}

/// Follows until the log or its time range ends, the browser disconnects, or the rights end. A range that has ended
/// waits for one of the places of `reads`.
pub async fn follow(
    services: Arc<Services>,
    caller: Caller,
    cluster: Uuid,
    query: LogQuery,
    id: u32,
    outbox: Outbox,
    reads: RangeReads,
) -> Result<(), Gone> {
    let target = format!("{}/pods/{}/{}", query.namespace, query.pod, query.container);
    let query = log_range::at(services.clock.now().as_second(), query);
    let _place = reads.place(&query).await;
    let (refusal, retry) = match read(&services, &caller, cluster, &query, id, &outbox).await? {
        Ok(end) => {
            audit::record(&caller, "logs", cluster, &target, Outcome::Done);
            (Refusal::from(end.sentence()), false)
        }
        Err(error) => {
            let refused = error.kind == app::error::UiErrorKind::NotPermitted;
            let outcome = if refused {
                Outcome::Refused
            } else {
                Outcome::Failed
            };
            audit::record(&caller, "logs", cluster, &target, outcome);
            let retry = log_range::may_retry(error.kind, &query);
            (error.into_refusal(), retry)
        }
    };
    let Refusal { reason, missing } = refusal;
    let ended = Message::Ended {
        id,
        reason,
        missing,
        retry,
    };
    outbox.send(ended).await
}

async fn read(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    query: &LogQuery,
    id: u32,
    outbox: &Outbox,
) -> Result<Result<End, ServiceError>, Gone> {
    let now = services.clock.now().as_second();
    if let Err(error) = check_log_range(now, query.since, query.until) {
        return Ok(Err(ServiceError::invalid(error.to_string())));
    }
    let mut reported = None;
    let lines = loop {
        let api = match services.api(caller, cluster).await {
            Ok((api, _)) => api,
            Err(error) => return Ok(Err(error)),
        };
        match logs::open(&api, query).await {
            Ok(lines) => break lines,
            Err(error) if query.follow && logs::has_not_started(&error) => {
                let (reason, is_over) = why_not_started(&api, query).await;
                if is_over {
                    return Ok(Err(ServiceError::invalid(reason)));
                }
                if log_range::has_ended(services.clock.now().as_second(), query) {
                    return Ok(Ok(End::Range));
                }
                if reported.as_ref() != Some(&reason) {
                    let message = Message::NotStarted {
                        id,
                        reason: reason.clone(),
                    };
                    outbox.send(message).await?;
                    reported = Some(reason);
                }
                tokio::time::sleep(START_RETRY_DELAY).await;
            }
            Err(error) => return Ok(Err(explain(error, query))),
        }
    };
    let target = format!("{}/pods/{}/{}", query.namespace, query.pod, query.container);
    audit::record(caller, "logs", cluster, &target, Outcome::Started);
    let mut lines = pin!(lines);
    let range = LogRange::of(query);
    let is_whole_range = logs::reads_whole_range(query);
    let mut over = pin!(log_range::over(services.clock.now().as_second(), query));
    let mut bytes = 0_usize;
    let mut waiting = Waiting::new(if is_whole_range {
        usize::try_from(query.tail).unwrap_or(MAX_QUEUED_LINES)
    } else {
        MAX_QUEUED_LINES
    });
    let mut flush = interval(FLUSH_INTERVAL);
    flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut recheck = interval_at(Instant::now() + REVIEW_INTERVAL, REVIEW_INTERVAL);
    loop {
        tokio::select! {
            line = lines.next() => match line {
                Some(Ok(line)) => {
                    bytes = bytes.saturating_add(line.len() + 1);
                    match range.cut(line) {
                        Some(line) => waiting.push(line),
                        None => {
                            waiting.drain(id, outbox).await?;
                            return Ok(Ok(End::Range));
                        }
                    }
                }
                Some(Err(error)) => {
                    waiting.drain(id, outbox).await?;
                    return Ok(Err(error.into()));
                }
                None => {
                    waiting.drain(id, outbox).await?;
                    let is_cut = is_whole_range && bytes >= logs::MAX_RANGE_BYTES;
                    return Ok(Ok(if is_cut { End::Limit } else { End::Log }));
                }
            },
            _ = flush.tick() => {
                // of a range that has ended, only the last lines are sent
                // a message each time would be fewer lines a second than a busy container writes
                while !is_whole_range && !waiting.lines.is_empty() && !outbox.is_full() {
                    waiting.send(id, outbox).await?;
                }
            }
            () = &mut over => {
                waiting.drain(id, outbox).await?;
                return Ok(Ok(End::Range));
            }
            _ = recheck.tick() => {
                if let Err(error) = allowed(services, caller, cluster, query).await {
                    waiting.drain(id, outbox).await?;
                    return Ok(Err(error));
                }
            }
        }
    }
}

/// Returns one sentence about a container without a log, and whether it will never have one because
/// its pod has ended. A viewer who may not read the pod learns that it has not started.
async fn why_not_started(api: &Api, query: &LogQuery) -> (String, bool) {
    let object = ObjectRef {
        resource: ResourceRef::core("pods"),
        namespace: Some(query.namespace.clone()),
        name: query.pod.clone(),
    };
    let pod = objects::get(api, &object)
        .await
        .ok()
        .and_then(|pod| Pod::deserialize(pod).ok());
    let Some(pod) = pod else {
        return ("The container has not started.".to_owned(), false);
    };
    let phase = pod
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref());
    let is_over = matches!(phase, Some("Failed" | "Succeeded"));
    let why = health::not_started(&pod, &query.container, api.now());
    (format!("The container has not started: {why}"), is_over)
}

/// Reviews the rights again, with a bearer token that is sealed anew when the old one is aging.
async fn allowed(
    services: &Services,
    caller: &Caller,
    cluster: Uuid,
    query: &LogQuery,
) -> Result<(), ServiceError> {
    let (api, _) = services.api(caller, cluster).await?;
    let question = RightQuestion {
        verb: "get".to_owned(),
        group: String::new(),
        resource: "pods".to_owned(),
        subresource: "log".to_owned(),
        namespace: Some(query.namespace.clone()),
        name: Some(query.pod.clone()),
    };
    if reviews::review_now(&api, &question).await?.allowed {
        Ok(())
    } else {
        Err(ServiceError::lacks(question))
    }
}

fn explain(error: KubeError, query: &LogQuery) -> ServiceError {
    match error {
        error if logs::has_not_started(&error) => ServiceError::invalid(format!(
            "Container {} has not started yet, so it has no log.",
            query.container
        )),
        KubeError::Invalid(message) if message.contains("previous terminated container") => {
            ServiceError::invalid(format!(
                "Container {} has not run before, so there is no previous log.",
                query.container
            ))
        }
        other => other.into(),
    }
}

/// Lines that are not sent yet.
struct Waiting {
    lines: VecDeque<String>,
    bytes: usize,
    skipped: u64,
    /// Maximum number of lines; older ones are dropped and counted.
    max: usize,
}

impl Waiting {
    /// Makes a queue of up to `max` lines, and at most [`MAX_QUEUED_LINES`] and
    /// [`MAX_QUEUED_BYTES`].
    fn new(max: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            bytes: 0,
            skipped: 0,
            max: max.clamp(1, MAX_QUEUED_LINES),
        }
    }

    fn push(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > self.max || self.bytes > MAX_QUEUED_BYTES {
            let Some(oldest) = self.lines.pop_front() else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(oldest.len());
            self.skipped += 1;
        }
    }

    async fn send(&mut self, id: u32, outbox: &Outbox) -> Result<(), Gone> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let mut size = 0_usize;
        let mut count = 0_usize;
        for line in self.lines.iter().take(MAX_BATCH_LINES) {
            size += line.len();
            if count > 0 && size > MAX_BATCH_BYTES {
                break;
            }
            count += 1;
        }
        let lines: Vec<String> = self.lines.drain(..count).collect();
        let sent: usize = lines.iter().map(String::len).sum();
        self.bytes = self.bytes.saturating_sub(sent);
        let skipped = std::mem::take(&mut self.skipped);
        outbox.send(Message::Lines { id, lines, skipped }).await
    }

    async fn drain(&mut self, id: u32, outbox: &Outbox) -> Result<(), Gone> {
        while !self.lines.is_empty() {
            self.send(id, outbox).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_browser_loses_the_oldest_lines_and_gets_their_number() {
        let mut waiting = Waiting::new(MAX_QUEUED_LINES);
        for number in 0..MAX_QUEUED_LINES + 10 {
            waiting.push(number.to_string());
        }
        let (outbox, mut inbox) = Outbox::new();
        waiting.send(7, &outbox).await.unwrap();
        let Message::Lines { id, lines, skipped } = inbox.recv().await.unwrap() else {
            panic!("lines expected");
        };
        assert_eq!((id, lines.len(), skipped), (7, MAX_BATCH_LINES, 10));
        assert_eq!(lines[0], "10");
    }

    #[tokio::test]
    async fn long_lines_fill_neither_the_queue_nor_a_message() {
        let mut waiting = Waiting::new(MAX_QUEUED_LINES);
        let long = "x".repeat(2_048);
        for _ in 0..MAX_QUEUED_BYTES / long.len() {
            waiting.push(long.clone());
        }
        assert_eq!((waiting.skipped, waiting.bytes), (0, MAX_QUEUED_BYTES));
        waiting.push(long.clone());
        assert_eq!((waiting.skipped, waiting.bytes), (1, MAX_QUEUED_BYTES));
        let (outbox, mut inbox) = Outbox::new();
        waiting.send(7, &outbox).await.unwrap();
        let Message::Lines { lines, skipped, .. } = inbox.recv().await.unwrap() else {
            panic!("lines expected");
        };
        assert_eq!((lines.len(), skipped), (MAX_BATCH_BYTES / long.len(), 1));
        assert_eq!(waiting.bytes, MAX_QUEUED_BYTES - MAX_BATCH_BYTES);
        // one that is too long for a message is sent alone
        let mut waiting = Waiting::new(2);
        waiting.push("x".repeat(MAX_BATCH_BYTES + 1));
        waiting.push(long.clone());
        waiting.send(7, &outbox).await.unwrap();
        assert_eq!((waiting.lines.len(), waiting.bytes), (1, long.len()));
    }

    #[tokio::test]
    async fn of_a_range_the_last_lines_are_sent() {
        let mut waiting = Waiting::new(2);
        for number in 0..5 {
            waiting.push(number.to_string());
        }
        let (outbox, mut inbox) = Outbox::new();
        waiting.drain(7, &outbox).await.unwrap();
        let Message::Lines { lines, skipped, .. } = inbox.recv().await.unwrap() else {
            panic!("lines expected");
        };
        assert_eq!((lines, skipped), (vec!["3".to_owned(), "4".to_owned()], 3));
    }
}
