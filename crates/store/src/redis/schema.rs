//! The version of the store's structure: a number at `<prefix>schema`.
use super::Redis;
use crate::error::StoreError;
use ::redis::cmd;

/// The version that this code writes. Raise it with a change that an older version would misread,
/// and convert the entries of the previous version in [`Redis::migrate`].
const VERSION: u64 = 1;
const SCAN_COUNT: usize = 500;
const OWNER: &str = "read whose store this is";

impl Redis {
    /// Writes the version to a store that has none.
    ///
    /// # Errors
    /// If the store is of a newer version, or Redis cannot be reached.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        match self.version().await? {
            None => {
                let mut set = cmd("SET");
                set.arg(self.schema_key()).arg(VERSION).arg("NX");
                // another process may have been first: the version is not set then, which is fine
                let _: Option<String> = self.command("migrate the store", &set).await?;
                self.ensure_migrated().await
            }
            Some(_) => self.ensure_migrated().await,
        }
    }

    /// Verifies that the store has this version's structure.
    ///
    /// # Errors
    /// [`StoreError::NotMigrated`] or [`StoreError::TooNew`] if it does not.
    pub async fn ensure_migrated(&self) -> Result<(), StoreError> {
        match self.version().await? {
            None => Err(StoreError::NotMigrated { missing: 1 }),
            Some(found) if found > VERSION => Err(StoreError::TooNew {
                found,
                known: VERSION,
            }),
            Some(_) => Ok(()),
        }
    }

    /// Verifies that there is a store under the prefix.
    ///
    /// # Errors
    /// [`StoreError::Uninitialised`] if there is none, [`StoreError::TooNew`] if it is of a newer
    /// version.
    pub async fn ensure_initialised(&self) -> Result<(), StoreError> {
        match self.ensure_migrated().await {
            Err(StoreError::NotMigrated { .. }) => Err(StoreError::Uninitialised),
            result => result,
        }
    }

    /// Verifies that one of these keys belongs to the installation that owns the store, and returns
    /// the recorded ones. The set is at `<prefix>keys`; a key's ID is public.
    ///
    /// # Errors
    /// [`StoreError::OtherKeys`] if none of them is in the set.
    pub async fn check_owner(&self, key_ids: &[String]) -> Result<Vec<String>, StoreError> {
        let mut members = cmd("SMEMBERS");
        members.arg(self.owner_key());
        let mut found: Vec<String> = self.command(OWNER, &members).await?;
        if !found.is_empty() && !key_ids.iter().any(|id| found.contains(id)) {
            found.sort();
            return Err(StoreError::OtherKeys { found });
        }
        Ok(found)
    }

    /// Does the same, and records the current key, which is the first.
    ///
    /// # Errors
    /// Those of [`Redis::check_owner`].
    pub async fn claim(&self, key_ids: &[String]) -> Result<(), StoreError> {
        let found = self.check_owner(key_ids).await?;
        if let Some(current) = key_ids.first()
            && !found.contains(current)
        {
            let mut add = cmd("SADD");
            add.arg(self.owner_key()).arg(current);
            let _: i64 = self.command(OWNER, &add).await?;
        }
        Ok(())
    }

    /// Deletes every key with the prefix.
    ///
    /// # Errors
    /// If Redis cannot be reached.
    pub async fn delete_everything(&self) -> Result<(), StoreError> {
        let operation = "delete the store";
        let pattern = format!("{}*", self.prefix);
        let mut cursor = String::from("0");
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(&cursor).arg("MATCH").arg(&pattern);
            scan.arg("COUNT").arg(SCAN_COUNT);
            let (next, names): (String, Vec<String>) = self.command(operation, &scan).await?;
            if !names.is_empty() {
                let mut unlink = cmd("UNLINK");
                unlink.arg(&names);
                let _: i64 = self.command(operation, &unlink).await?;
            }
            if next == "0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    async fn version(&self) -> Result<Option<u64>, StoreError> {
        let mut get = cmd("GET");
        get.arg(self.schema_key());
        let found: Option<String> = self.command("reach Redis", &get).await?;
        found
            .map(|text| {
                text.parse().map_err(|_| StoreError::Corrupt {
                    table: "schema",
                    column: "version",
                    reason: "not a number".to_owned(),
                })
            })
            .transpose()
    }

    fn owner_key(&self) -> String {
        format!("{}keys", self.prefix)
    }

    fn schema_key(&self) -> String {
        format!("{}schema", self.prefix)
    }
}
