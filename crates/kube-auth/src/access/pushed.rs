//! A policy that somebody else reads and hands over, a watch of a ConfigMap for example.
use super::source::{MAX_BYTES, loaded, missing, refused};
use crate::policy::{Policy, PolicyError, Severity};
use std::sync::{Arc, PoisonError, RwLock};
use uuid::Uuid;

/// Why a text is not in force now. The last good policy is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    #[error(
        "cluster {0} takes no policy from elsewhere: it has no authorization_policy_config_map"
    )]
    NotTaken(Uuid),
    #[error("larger than 1 MiB")]
    TooLarge,
    #[error("{0}")]
    Policy(#[from] PolicyError),
}

/// The last good policy that was handed over.
#[derive(Debug, Default)]
pub(crate) struct PushedPolicy {
    policy: RwLock<Option<Arc<Policy>>>,
}

impl PushedPolicy {
    pub fn current(&self) -> Option<Arc<Policy>> {
        let policy = self.policy.read();
        policy.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts a policy in force, or changes nothing.
    pub fn push(&self, cluster: Uuid, text: &str) -> Result<Arc<Policy>, PushError> {
        let parsed = if text.len() as u64 > MAX_BYTES {
            Err(PushError::TooLarge)
        } else {
            Policy::parse(text).map_err(PushError::from)
        };
        let policy = Arc::new(parsed.inspect_err(|error| {
            refused();
            tracing::error!(cluster.id = %cluster, %error, "policy refused, {}", self.what_stays());
        })?);
        // a watch that starts again brings the same once more
        if self.current().as_ref() != Some(&policy) {
            loaded(&policy);
            let found = policy.lint();
            let warnings = found.iter().filter(|one| one.severity == Severity::Warning);
            tracing::info!(
                cluster.id = %cluster,
                rules = policy.len(),
                warnings = warnings.count(),
                "policy loaded; `portico kube-auth policy lint` explains warnings"
            );
            let mut held = self.policy.write().unwrap_or_else(PoisonError::into_inner);
            *held = Some(Arc::clone(&policy));
        }
        Ok(policy)
    }

    /// Notes that there is none to be had.
    pub fn missing(&self, cluster: Uuid, reason: &str) {
        missing();
        tracing::error!(cluster.id = %cluster, reason, "no policy, {}", self.what_stays());
    }

    fn what_stays(&self) -> &'static str {
        if self.current().is_some() {
            "the last good one stays"
        } else {
            "and there has been no good one: the endpoint answers 503"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_good_policy_takes_the_place_of_another() {
        let id = Uuid::nil();
        let pushed = PushedPolicy::default();
        let rule = r#"{"users": {"projects": ["p"]}, "resource_permissions": {"*/*": ["get"]}}"#;
        let rules = |pushed: &PushedPolicy| pushed.current().map(|policy| policy.len());
        assert!(pushed.push(id, "[{").is_err());
        pushed.missing(id, "deleted");
        assert_eq!(rules(&pushed), None);
        pushed.push(id, &format!("[{rule}]")).unwrap();
        for broken in ["[{", "", "{}", r#"[{"users": {"role": ["x"]}}]"#] {
            assert!(pushed.push(id, broken).is_err(), "{broken}");
        }
        let long = format!("[{rule}]{}", " ".repeat(1024 * 1024));
        assert_eq!(pushed.push(id, &long), Err(PushError::TooLarge));
        pushed.missing(id, "deleted");
        assert_eq!(rules(&pushed), Some(1));
        pushed.push(id, &format!("[{rule},{rule}]")).unwrap();
        assert_eq!(rules(&pushed), Some(2));
    }
}
