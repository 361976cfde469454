//! The states of clusters and node groups.
use crate::open_enum::open_enum;

open_enum! {
    /// The state of a cluster or node group: the last operation, and how far it is.
    pub enum Status {
        CreateInProgress = "CREATE_IN_PROGRESS",
        CreateFailed = "CREATE_FAILED",
        CreateComplete = "CREATE_COMPLETE",
        UpdateInProgress = "UPDATE_IN_PROGRESS",
        UpdateFailed = "UPDATE_FAILED",
        UpdateComplete = "UPDATE_COMPLETE",
        DeleteInProgress = "DELETE_IN_PROGRESS",
        DeleteFailed = "DELETE_FAILED",
        DeleteComplete = "DELETE_COMPLETE",
        ResumeComplete = "RESUME_COMPLETE",
        ResumeFailed = "RESUME_FAILED",
        RestoreComplete = "RESTORE_COMPLETE",
        RollbackInProgress = "ROLLBACK_IN_PROGRESS",
        RollbackComplete = "ROLLBACK_COMPLETE",
        RollbackFailed = "ROLLBACK_FAILED",
        SnapshotComplete = "SNAPSHOT_COMPLETE",
        CheckComplete = "CHECK_COMPLETE",
        AdoptComplete = "ADOPT_COMPLETE",
    }
}

impl Status {
    /// Returns whether an operation is running, also one that is not known here.
    pub fn is_in_progress(&self) -> bool {
        self.as_str().ends_with("_IN_PROGRESS")
    }

    /// Returns whether the last operation has failed.
    pub fn is_failed(&self) -> bool {
        self.as_str().ends_with("_FAILED")
    }

    /// Returns whether the last operation has succeeded.
    pub fn is_complete(&self) -> bool {
        self.as_str().ends_with("_COMPLETE")
    }
}

open_enum! {
    /// Magnum's view of a cluster's health.
    pub enum HealthStatus {
        Healthy = "HEALTHY",
        Unhealthy = "UNHEALTHY",
        Unknown = "UNKNOWN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_of_a_later_version_is_preserved() {
        for (word, in_progress, failed, complete) in [
            ("CREATE_IN_PROGRESS", true, false, false),
            ("UPDATE_FAILED", false, true, false),
            ("ADOPT_COMPLETE", false, false, true),
            ("MIGRATE_IN_PROGRESS", true, false, false),
            ("WEIRD", false, false, false),
        ] {
            let json = format!("\"{word}\"");
            let status: Status = serde_json::from_str(&json).unwrap();
            assert_eq!(serde_json::to_string(&status).unwrap(), json);
            assert_eq!(status.is_in_progress(), in_progress, "{word}");
            assert_eq!(status.is_failed(), failed, "{word}");
            assert_eq!(status.is_complete(), complete, "{word}");
        }
        let weird: Status = "WEIRD".to_owned().into();
        assert_eq!(weird, Status::Other("WEIRD".to_owned()));
        assert_eq!(
            Status::from("CREATE_FAILED".to_owned()),
            Status::CreateFailed
        );
    }
}
