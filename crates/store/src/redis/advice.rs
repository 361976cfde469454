//! Checks for server settings that would lose sessions.
use super::Redis;
use crate::advice::Advice;
use crate::error::StoreError;
use ::redis::cmd;
use std::collections::HashMap;

const OPERATION: &str = "ask Redis about itself";

impl Redis {
    /// Returns what an operator should change.
    ///
    /// # Errors
    /// If the server does not respond.
    pub async fn advice(&self) -> Result<Vec<Advice>, StoreError> {
        Ok(advice_on(&self.information().await?))
    }

    /// Refuses Redis Cluster: scripts access keys that they find at run time, which the nodes of a
    /// cluster would refuse.
    pub(super) async fn refuse_cluster(&self) -> Result<(), StoreError> {
        let information = self.information().await?;
        if information.get("cluster_enabled").map(String::as_str) == Some("1") {
            return Err(StoreError::Url(
                "this is a Redis Cluster: use one Redis, or one with replicas and Sentinel behind \
                 an address that leads to the primary"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    async fn information(&self) -> Result<HashMap<String, String>, StoreError> {
        let text: String = self.command(OPERATION, &cmd("INFO")).await?;
        Ok(text
            .lines()
            .filter_map(|line| line.trim().split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }
}

fn advice_on(information: &HashMap<String, String>) -> Vec<Advice> {
    let value = |name: &str| information.get(name).map_or("", String::as_str);
    let mut all = Vec::new();
    let policy = value("maxmemory_policy");
    if policy != "noeviction" && value("maxmemory") != "0" {
        all.push(Advice::Evicts {
            policy: policy.to_owned(),
        });
    }
    if value("aof_enabled") != "1" {
        all.push(Advice::NotPersistent);
    } else if value("aof_last_write_status") != "ok" {
        all.push(Advice::CannotPersist);
    }
    if value("role") == "slave" {
        all.push(Advice::Replica);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(changed: &[(&str, &str)]) -> HashMap<String, String> {
        let good = [
            ("maxmemory", "0"),
            ("maxmemory_policy", "noeviction"),
            ("aof_enabled", "1"),
            ("aof_last_write_status", "ok"),
            ("role", "master"),
        ];
        good.iter()
            .chain(changed)
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_server_that_keeps_everything_gets_no_advice() {
        assert!(advice_on(&server(&[])).is_empty());
    }

    #[test]
    fn eviction_lost_persistence_and_replicas_are_named() {
        let evicting = [("maxmemory", "1000"), ("maxmemory_policy", "allkeys-lru")];
        let cases: [(&[(&str, &str)], &str); 4] = [
            (&evicting, "allkeys-lru"),
            (&[("aof_enabled", "0")], "append-only"),
            (&[("aof_last_write_status", "err")], "disk"),
            (&[("role", "slave")], "replica"),
        ];
        for (changed, word) in cases {
            let advice = advice_on(&server(changed));
            assert_eq!(advice.len(), 1, "{advice:?}");
            assert!(advice[0].to_string().contains(word), "{advice:?}");
        }
    }
}
