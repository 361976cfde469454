//! A policy that is read elsewhere and passed in: from a watched ConfigMap.
//!
//! Its author is the administrator of one cluster, and this process serves all clusters. A text is
//! therefore bounded in size, parsed on a thread for blocking work (the workers answer API
//! servers), and given a bounded time; a cluster has at most one text being parsed.
use super::source::{loaded, missing, refused};
use crate::policy::{Policy, PolicyError, Severity};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Maximum size of a policy in a ConfigMap, in bytes; Magnum's has 2 KiB.
const MAX_BYTES: usize = 256 * 1024;
/// Time limit for parsing one text. The limits of [`crate::policy`] keep it to milliseconds.
const PARSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why a text is not in force now. The last valid policy is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PushError {
    /// The cluster has no policy in a ConfigMap.
    #[error(
        "cluster {0} accepts no policy from a ConfigMap: it has no authorization_policy_config_map"
    )]
    NotTaken(Uuid),
    /// The text is longer than a ConfigMap's policy may be.
    #[error("larger than 256 KiB")]
    TooLarge,
    /// The text, or the previous one, is still being parsed.
    #[error("reading it took too long")]
    TimedOut,
    /// The text is not a valid policy.
    #[error("{0}")]
    Policy(#[from] PolicyError),
}

/// The last valid policy that was passed in.
#[derive(Debug)]
pub(crate) struct PushedPolicy {
    policy: RwLock<Option<Arc<Policy>>>,
    /// One permit, held while a text is being parsed.
    parsing: Arc<Semaphore>,
    timeout: Duration,
}

impl Default for PushedPolicy {
    fn default() -> Self {
        Self {
            policy: RwLock::default(),
            parsing: Arc::new(Semaphore::new(1)),
            timeout: PARSE_TIMEOUT,
        }
    }
}

impl PushedPolicy {
    pub fn current(&self) -> Option<Arc<Policy>> {
        let policy = self.policy.read();
        policy.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts a policy in force, or changes nothing. Call it for one text at a time.
    pub async fn push(&self, cluster: Uuid, text: &str) -> Result<Arc<Policy>, PushError> {
        let (policy, warnings) = self.parse(text).await.inspect_err(|error| {
            refused();
            tracing::error!(cluster_id = %cluster, %error, "policy refused, {}", self.what_stays());
        })?;
        // a restarted watch sends the same text again
        if self.current().as_ref() != Some(&policy) {
            loaded(&policy);
            tracing::info!(
                cluster_id = %cluster,
                rules = policy.len(),
                warnings,
                "policy loaded; `portico kube-auth policy lint` explains warnings"
            );
            let mut held = self.policy.write().unwrap_or_else(PoisonError::into_inner);
            *held = Some(Arc::clone(&policy));
        }
        Ok(policy)
    }

    /// Returns the policy, and the number of warnings that `lint` has for it.
    async fn parse(&self, text: &str) -> Result<(Arc<Policy>, usize), PushError> {
        if text.len() > MAX_BYTES {
            return Err(PushError::TooLarge);
        }
        let text = text.to_owned();
        let parsed = async {
            // never closed, so there is always a permit to wait for
            let permit = Arc::clone(&self.parsing).acquire_owned().await;
            tokio::task::spawn_blocking(move || -> Result<_, PushError> {
                // held until the end even if no task waits for it any more
                let _permit = permit;
                let policy = Policy::parse(&text)?;
                let found = policy.lint();
                let warnings = found.iter().filter(|one| one.severity == Severity::Warning);
                Ok((Arc::new(policy), warnings.count()))
            })
            .await
        };
        match tokio::time::timeout(self.timeout, parsed).await {
            Ok(Ok(parsed)) => parsed,
            Ok(Err(panicked)) => Err(PolicyError::Syntax(panicked.to_string()).into()),
            Err(_) => Err(PushError::TimedOut),
        }
    }

    /// Records that the ConfigMap or its key is missing.
    pub fn missing(&self, cluster: Uuid, reason: &str) {
        missing();
        tracing::error!(cluster_id = %cluster, reason, "no policy, {}", self.what_stays());
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

    #[tokio::test]
    async fn only_a_good_policy_takes_the_place_of_another() {
        let id = Uuid::nil();
        let pushed = PushedPolicy::default();
        let rule = r#"{"users": {"projects": ["p"]}, "resource_permissions": {"*/*": ["get"]}}"#;
        let rules = |pushed: &PushedPolicy| pushed.current().map(|policy| policy.len());
        assert!(pushed.push(id, "[{").await.is_err());
        pushed.missing(id, "deleted");
        assert_eq!(rules(&pushed), None);
        pushed.push(id, &format!("[{rule}]")).await.unwrap();
        for broken in ["[{", "", "{}", r#"[{"users": {"role": ["x"]}}]"#] {
            assert!(pushed.push(id, broken).await.is_err(), "{broken}");
        }
        let long = format!("[{rule}]{}", " ".repeat(MAX_BYTES));
        assert_eq!(pushed.push(id, &long).await, Err(PushError::TooLarge));
        pushed.missing(id, "deleted");
        assert_eq!(rules(&pushed), Some(1));
        pushed.push(id, &format!("[{rule},{rule}]")).await.unwrap();
        assert_eq!(rules(&pushed), Some(2));
    }

    #[tokio::test]
    async fn finding_s1_one_text_is_parsed_at_a_time_and_waited_for_a_bounded_time() {
        let mut pushed = PushedPolicy::default();
        pushed.push(Uuid::nil(), "[]").await.unwrap();
        pushed.timeout = Duration::from_millis(10);
        // as if a text were being parsed forever
        let busy = Arc::clone(&pushed.parsing).acquire_owned().await.unwrap();
        assert_eq!(
            pushed.push(Uuid::nil(), "[]").await,
            Err(PushError::TimedOut)
        );
        assert!(pushed.current().is_some());
        drop(busy);
        pushed.timeout = PARSE_TIMEOUT;
        assert!(pushed.push(Uuid::nil(), "[]").await.is_ok());
    }
}
