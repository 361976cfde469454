//! Following of a container's log.
use super::{
    REVIEW_INTERVAL,
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
    stream::{LogQuery, Message},
};
use serde::Deserialize;
use std::{collections::VecDeque, pin::pin, sync::Arc, time::Duration};
use tokio::time::{Instant, MissedTickBehavior, interval, interval_at};
use uuid::Uuid;

/// How often collected lines are sent.
const FLUSH_INTERVAL: Duration = Duration::from_millis(150);
/// Maximum number of lines that wait for a slow browser; older ones are dropped and counted.
const MAX_QUEUED_LINES: usize = 4_000;
/// How often the log of a container that has not started is requested again.
const START_RETRY_DELAY: Duration = Duration::from_secs(3);
/// Maximum number of lines in one message.
const MAX_BATCH_LINES: usize = 500;

/// Follows until the log ends, the browser disconnects, or the rights end.
pub async fn follow(
    services: Arc<Services>,
    caller: Caller,
    cluster: Uuid,
    query: LogQuery,
    id: u32,
    outbox: Outbox,
) -> Result<(), Gone> {
    let target = format!("{}/pods/{}/{}", query.namespace, query.pod, query.container);
    let (refusal, retry) = match read(&services, &caller, cluster, &query, id, &outbox).await? {
        Ok(()) => {
            audit::record(&caller, "logs", cluster, &target, Outcome::Done);
            (Refusal::from("The log ends here.".to_owned()), false)
        }
        Err(error) => {
            let refused = error.kind == app::error::UiErrorKind::NotPermitted;
            let outcome = if refused {
                Outcome::Refused
            } else {
                Outcome::Failed
            };
            audit::record(&caller, "logs", cluster, &target, outcome);
            let retry = error.kind == app::error::UiErrorKind::Unavailable;
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
) -> Result<Result<(), ServiceError>, Gone> {
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
    let mut waiting = Waiting::default();
    let mut flush = interval(FLUSH_INTERVAL);
    flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut recheck = interval_at(Instant::now() + REVIEW_INTERVAL, REVIEW_INTERVAL);
    loop {
        tokio::select! {
            line = lines.next() => match line {
                Some(Ok(line)) => waiting.push(line),
                Some(Err(error)) => {
                    waiting.drain(id, outbox).await?;
                    return Ok(Err(error.into()));
                }
                None => {
                    waiting.drain(id, outbox).await?;
                    return Ok(Ok(()));
                }
            },
            _ = flush.tick() => {
                if !outbox.is_full() {
                    waiting.send(id, outbox).await?;
                }
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
    let why = health::not_started(&pod, &query.container);
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

#[derive(Default)]
struct Waiting {
    lines: VecDeque<String>,
    skipped: u64,
}

impl Waiting {
    fn push(&mut self, line: String) {
        if self.lines.len() >= MAX_QUEUED_LINES {
            self.lines.pop_front();
            self.skipped += 1;
        }
        self.lines.push_back(line);
    }

    async fn send(&mut self, id: u32, outbox: &Outbox) -> Result<(), Gone> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let count = self.lines.len().min(MAX_BATCH_LINES);
        let lines = self.lines.drain(..count).collect();
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
        let mut waiting = Waiting::default();
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
}
