//! CronJobs: whether the last job failed, and whether a run was missed.
use super::{Listed, Reading, list, warnings};
use crate::{
    kube::Api,
    service::{
        health::{self, Assessment, sentence},
        object::related::is_owned,
    },
};
use jiff::Timestamp;
use portico_domain::panel::{EventRow, Health, ObjectRef, ResourceRef};
use serde_json::Value;

/// Reasons of events about a run that did not start.
const MISSED: [&str; 6] = [
    "MissSchedule",
    "FailedNeedsStart",
    "TooManyMissedTimes",
    "FailedCreate",
    "UnparseableSchedule",
    "InvalidSchedule",
];

pub(super) async fn assess(
    api: &Api,
    object: &ObjectRef,
    value: &Value,
    first: Assessment,
) -> Assessment {
    if value["spec"]["suspend"] == true {
        return first;
    }
    let (jobs, namespace) = (jobs(), object.namespace.as_deref());
    let (jobs, warnings) = tokio::join!(
        list(api, &jobs, namespace, "", "application/json"),
        warnings(api, object, value),
    );
    combine(value, first, &jobs, &warnings, api.now())
}

fn jobs() -> ResourceRef {
    ResourceRef::new("batch", "v1", "jobs")
}

fn combine(
    value: &Value,
    first: Assessment,
    jobs: &Reading,
    warnings: &[EventRow],
    now: Timestamp,
) -> Assessment {
    if let Some(missed) = missed(value, warnings) {
        return Assessment::new(Health::Warning, "Missed a run").because(format!(
            "A job was not started at its time ({}): {} Check its schedule, its starting deadline, \
             and whether an earlier job still runs.",
            missed.reason,
            sentence(&missed.message)
        ));
    }
    match jobs {
        Ok(listed) => match last_failure(value, listed, now) {
            Some((name, reason)) => Assessment::new(Health::Warning, "Last job failed")
                .because(format!("Its last job, {name}, failed. {reason}")),
            None => first,
        },
        Err(refusal) => first
            .because(format!("Its jobs were not checked: {}", refusal.reason))
            .lacking(refusal),
    }
}

/// Returns the newest warning about a run that did not start, unless a later run did.
fn missed<'a>(value: &Value, warnings: &'a [EventRow]) -> Option<&'a EventRow> {
    let last_run = value["status"]["lastScheduleTime"]
        .as_str()
        .and_then(|text| text.parse::<Timestamp>().ok())
        .map(Timestamp::as_second);
    warnings.iter().find(|event| {
        MISSED.contains(&event.reason.as_str())
            && last_run.is_none_or(|run| event.last_seen > Some(run))
    })
}

/// Returns the name of the last job and the reason, if it failed.
fn last_failure(value: &Value, jobs: &Listed, now: Timestamp) -> Option<(String, String)> {
    let uid = &value["metadata"]["uid"];
    let own = jobs.items.iter().filter(|job| is_owned(job, uid));
    // in this format the order of the texts is that of the times
    let last = own.max_by_key(|job| {
        let created = &job["metadata"]["creationTimestamp"];
        created.as_str().unwrap_or_default()
    })?;
    let assessment = health::assess(&self::jobs(), last, now);
    (assessment.health == Health::Failed).then(|| {
        let name = last["metadata"]["name"].as_str().unwrap_or_default();
        (name.to_owned(), assessment.reason.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{Refusal, RightQuestion};
    use serde_json::json;

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn cron_job() -> Value {
        json!({"metadata": {"uid": "u"}, "spec": {"schedule": "0 * * * *"},
            "status": {"lastScheduleTime": "2026-11-21T10:00:00Z"}})
    }

    fn job(name: &str, created: &str, condition: &str) -> Value {
        json!({"metadata": {"name": name, "creationTimestamp": created,
                "ownerReferences": [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "c", "uid": "u"}]},
            "spec": {"template": {}},
            "status": {"failed": 1, "conditions": [{"type": condition, "status": "True",
                "reason": "BackoffLimitExceeded"}]}})
    }

    fn listed(items: Vec<Value>) -> Reading {
        Ok(Listed {
            items,
            is_complete: true,
        })
    }

    #[test]
    fn a_cron_job_whose_last_job_failed_needs_attention_and_names_the_job() {
        let first = Assessment::ok("Scheduled");
        let early = job("early", "2026-11-21T09:00:00Z", "Complete");
        let late = job("late", "2026-11-21T10:00:00Z", "Failed");
        let jobs = listed(vec![late.clone(), early.clone()]);
        let failed = combine(&cron_job(), first.clone(), &jobs, &[], NOW);
        assert_eq!(failed.status, "Last job failed");
        assert!(failed.reason.unwrap().contains("late, failed"));
        // a later success ends it
        let newer = job("newer", "2026-11-21T11:00:00Z", "Complete");
        let jobs = listed(vec![newer, late, early]);
        assert_eq!(combine(&cron_job(), first.clone(), &jobs, &[], NOW), first);
    }

    #[test]
    fn a_missed_run_needs_attention_until_the_next_one_starts() {
        let event = |last_seen: &str| EventRow {
            kind: "Warning".to_owned(),
            reason: "MissSchedule".to_owned(),
            message: "Missed scheduled time to start a job".to_owned(),
            source: String::new(),
            count: 1,
            last_seen: last_seen
                .parse::<Timestamp>()
                .ok()
                .map(Timestamp::as_second),
        };
        let first = Assessment::ok("Scheduled");
        let none = listed(Vec::new());
        let later = [event("2026-11-21T10:30:00Z")];
        let missed = combine(&cron_job(), first.clone(), &none, &later, NOW);
        assert_eq!(
            (missed.health, missed.status.as_str()),
            (Health::Warning, "Missed a run")
        );
        let earlier = [event("2026-11-21T09:30:00Z")];
        assert_eq!(
            combine(&cron_job(), first.clone(), &none, &earlier, NOW),
            first
        );
    }

    #[test]
    fn jobs_that_may_not_be_listed_are_named() {
        let question = RightQuestion::on("list", &jobs(), Some("shop"));
        let refused = Err(Refusal::of(question.clone()));
        let assessment = combine(&cron_job(), Assessment::ok("Scheduled"), &refused, &[], NOW);
        assert_eq!(assessment.health, Health::Ok);
        assert_eq!(assessment.missing, [question]);
        assert!(assessment.reason.unwrap().contains("list on jobs"));
    }
}
