//! Typed fields of an entry, as [`crate::row::Columns`] is for rows.
use crate::error::StoreError;
use ::redis::ScriptInvocation;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::str::FromStr;
use uuid::Uuid;

/// The response of Redis for a hash; empty if there is none.
pub(super) type Found = HashMap<String, String>;

/// The fields of a hash, with the name of the corresponding table for error messages.
pub(super) struct Entry {
    table: &'static str,
    fields: Found,
}

impl Entry {
    /// Returns `None` if there is no such entry.
    pub fn of(table: &'static str, fields: Found) -> Option<Self> {
        (!fields.is_empty()).then_some(Self { table, fields })
    }

    pub fn corrupt(&self, column: &'static str, reason: impl ToString) -> StoreError {
        StoreError::Corrupt {
            table: self.table,
            column,
            reason: reason.to_string(),
        }
    }

    pub fn text(&self, column: &'static str) -> Result<&str, StoreError> {
        self.optional_text(column)
            .ok_or_else(|| self.corrupt(column, "missing"))
    }

    pub fn optional_text(&self, column: &str) -> Option<&str> {
        self.fields.get(column).map(String::as_str)
    }

    pub fn owned(&self, column: &'static str) -> Result<String, StoreError> {
        self.text(column).map(str::to_owned)
    }

    pub fn optional_owned(&self, column: &str) -> Option<String> {
        self.optional_text(column).map(str::to_owned)
    }

    pub fn parsed<T>(&self, column: &'static str) -> Result<T, StoreError>
    where
        T: FromStr,
        T::Err: ToString,
    {
        self.text(column)?
            .parse()
            .map_err(|error: T::Err| self.corrupt(column, error))
    }

    pub fn optional<T>(&self, column: &'static str) -> Result<Option<T>, StoreError>
    where
        T: FromStr,
        T::Err: ToString,
    {
        self.optional_text(column)
            .map(|_| self.parsed(column))
            .transpose()
    }

    pub fn uuid(&self, column: &'static str) -> Result<Uuid, StoreError> {
        self.parsed(column)
    }

    pub fn integer(&self, column: &'static str) -> Result<i64, StoreError> {
        self.parsed(column)
    }

    pub fn time(&self, column: &'static str) -> Result<Timestamp, StoreError> {
        Timestamp::from_second(self.integer(column)?).map_err(|error| self.corrupt(column, error))
    }

    pub fn optional_time(&self, column: &'static str) -> Result<Option<Timestamp>, StoreError> {
        self.optional_text(column)
            .map(|_| self.time(column))
            .transpose()
    }

    pub fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        serde_json::from_str(self.text(column)?).map_err(|error| self.corrupt(column, error))
    }

    pub fn optional_json<T: DeserializeOwned>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        self.optional_text(column)
            .map(|_| self.json(column))
            .transpose()
    }

    /// Returns a sealed value, which is stored in base64.
    pub fn sealed(&self, column: &'static str) -> Result<Vec<u8>, StoreError> {
        STANDARD
            .decode(self.text(column)?)
            .map_err(|error| self.corrupt(column, error))
    }
}

/// Fields of an entry to write. `None` values are left out.
#[derive(Default)]
pub(super) struct Fields(Vec<(&'static str, String)>);

impl Fields {
    pub fn with(mut self, column: &'static str, value: impl ToString) -> Self {
        self.0.push((column, value.to_string()));
        self
    }

    pub fn optional(self, column: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.with(column, value),
            None => self,
        }
    }

    pub fn time(self, column: &'static str, value: Timestamp) -> Self {
        self.with(column, value.as_second())
    }

    pub fn sealed(self, column: &'static str, value: &[u8]) -> Self {
        self.with(column, STANDARD.encode(value))
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Appends the fields to the arguments of a script, each followed by its value.
    pub fn append_to(&self, invocation: &mut ScriptInvocation<'_>) {
        for (column, value) in &self.0 {
            invocation.arg(*column).arg(value);
        }
    }
}

/// Returns a keyed hash or an ID as a script argument; empty for `None`.
pub(super) fn or_empty<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
