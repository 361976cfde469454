//! The version of the structure: a number at `<prefix>schema`.
use super::Redis;
use crate::error::StoreError;
use ::redis::cmd;

/// What this version writes. Raise it with a change that an older version would misread, and turn
/// the entries of the version before over in [`Redis::migrate`].
const VERSION: u64 = 1;
const DELETE_AT_ONCE: usize = 500;

impl Redis {
    /// Notes the version in a store that has none.
    ///
    /// # Errors
    /// When the store is of a newer version, or Redis cannot say.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        match self.version().await? {
            None => {
                let mut set = cmd("SET");
                set.arg(self.schema_key()).arg(VERSION).arg("NX");
                // another process may have been first: then it is not set, which is fine
                let _: Option<String> = self.command("migrate the store", &set).await?;
                self.ensure_migrated().await
            }
            Some(_) => self.ensure_migrated().await,
        }
    }

    /// Makes sure that the store has this version's structure.
    ///
    /// # Errors
    /// [`StoreError::NotMigrated`] or [`StoreError::TooNew`] when it has not.
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

    /// Deletes every key with the prefix.
    ///
    /// # Errors
    /// When Redis cannot say.
    pub async fn delete_everything(&self) -> Result<(), StoreError> {
        let operation = "delete the store";
        let pattern = format!("{}*", self.prefix);
        let mut cursor = String::from("0");
        loop {
            let mut scan = cmd("SCAN");
            scan.arg(&cursor).arg("MATCH").arg(&pattern);
            scan.arg("COUNT").arg(DELETE_AT_ONCE);
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
        let found: Option<String> = self.command("read the structure's version", &get).await?;
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

    fn schema_key(&self) -> String {
        format!("{}schema", self.prefix)
    }
}
