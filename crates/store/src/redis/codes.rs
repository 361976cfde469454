//! Codes and tokens that lead to a session, stored under their hashes.
use super::Redis;
use super::entry::{Fields, Found};
use super::scripts::CODES;
use crate::error::StoreError;
use jiff::Timestamp;

impl Redis {
    /// Stores a code or token of a session under its hash.
    pub(super) async fn put_code(
        &self,
        operation: &'static str,
        (kind, hash): (&str, &str),
        session: &str,
        expires_at: Timestamp,
        fields: &Fields,
    ) -> Result<(), StoreError> {
        let mut call = self.call(&CODES, "put");
        call.arg(kind)
            .arg(hash)
            .arg(expires_at.as_second())
            .arg(session);
        fields.append_to(&mut call);
        let _done: i64 = self.script(operation, &call).await?;
        Ok(())
    }

    /// Redeems a code and deletes it.
    pub(super) async fn take_code(
        &self,
        operation: &'static str,
        kind: &str,
        hash: &str,
    ) -> Result<Found, StoreError> {
        let mut call = self.call(&CODES, "take");
        call.arg(kind).arg(hash);
        self.script(operation, &call).await
    }
}
