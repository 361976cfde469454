//! The state of CronJobs in their own fields
//! (<https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/>).
use super::{Assessment, counted};
use serde_json::Value;

pub fn cron_job(object: &Value) -> Assessment {
    if object["spec"]["suspend"] == true {
        return Assessment::ok("Suspended")
            .because("It starts no jobs until it is resumed. Jobs that run already continue.");
    }
    let active = object["status"]["active"].as_array().map_or(0, Vec::len);
    if active > 0 {
        let jobs = counted(i64::try_from(active).unwrap_or(i64::MAX), "job");
        return Assessment::ok(format!("{jobs} running"));
    }
    Assessment::ok(if object["status"]["lastScheduleTime"].is_string() {
        "Scheduled"
    } else {
        "Not run yet"
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cron_job_shows_whether_it_is_suspended_running_or_waiting() {
        for (object, status) in [
            (json!({"spec": {"suspend": true}}), "Suspended"),
            (
                json!({"status": {"active": [{"name": "a"}, {"name": "b"}]}}),
                "2 jobs running",
            ),
            (
                json!({"status": {"lastScheduleTime": "2026-11-21T10:00:00Z"}}),
                "Scheduled",
            ),
            (json!({"spec": {"suspend": false}}), "Not run yet"),
        ] {
            assert_eq!(cron_job(&object).status, status);
        }
    }
}
