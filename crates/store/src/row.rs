//! Typed columns over sqlx's `Any` rows, which hold text, integers and bytes only.
use crate::error::StoreError;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::any::AnyRow;
use sqlx::{Any, ColumnIndex, Decode, Row as _, Type};
use std::str::FromStr;
use uuid::Uuid;

/// A row, with the name of its table for error messages.
pub(crate) struct Columns<'r> {
    pub table: &'static str,
    pub row: &'r AnyRow,
}

impl<'r> Columns<'r> {
    pub fn new(table: &'static str, row: &'r AnyRow) -> Self {
        Self { table, row }
    }

    fn get<T>(&self, column: &'static str) -> Result<T, StoreError>
    where
        T: Decode<'r, Any> + Type<Any>,
        &'static str: ColumnIndex<AnyRow>,
    {
        self.row
            .try_get(column)
            .map_err(|error| self.corrupt(column, error))
    }

    pub fn corrupt(&self, column: &'static str, reason: impl ToString) -> StoreError {
        StoreError::Corrupt {
            table: self.table,
            column,
            reason: reason.to_string(),
        }
    }

    pub fn text(&self, column: &'static str) -> Result<String, StoreError> {
        self.get(column)
    }

    pub fn optional_text(&self, column: &'static str) -> Result<Option<String>, StoreError> {
        self.get(column)
    }

    pub fn integer(&self, column: &'static str) -> Result<i64, StoreError> {
        self.get(column)
    }

    pub fn optional_integer(&self, column: &'static str) -> Result<Option<i64>, StoreError> {
        self.get(column)
    }

    pub fn bytes(&self, column: &'static str) -> Result<Vec<u8>, StoreError> {
        self.get(column)
    }

    pub fn optional_bytes(&self, column: &'static str) -> Result<Option<Vec<u8>>, StoreError> {
        self.get(column)
    }

    pub fn uuid(&self, column: &'static str) -> Result<Uuid, StoreError> {
        self.parsed(column)
    }

    pub fn optional_uuid(&self, column: &'static str) -> Result<Option<Uuid>, StoreError> {
        self.optional_text(column)?
            .map(|text| Uuid::parse_str(&text).map_err(|error| self.corrupt(column, error)))
            .transpose()
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

    pub fn time(&self, column: &'static str) -> Result<Timestamp, StoreError> {
        Timestamp::from_second(self.integer(column)?).map_err(|error| self.corrupt(column, error))
    }

    pub fn optional_time(&self, column: &'static str) -> Result<Option<Timestamp>, StoreError> {
        let seconds: Option<i64> = self.get(column)?;
        seconds
            .map(|seconds| {
                Timestamp::from_second(seconds).map_err(|error| self.corrupt(column, error))
            })
            .transpose()
    }

    pub fn optional_millis(&self, column: &'static str) -> Result<Option<Timestamp>, StoreError> {
        let millis: Option<i64> = self.get(column)?;
        millis
            .map(|millis| {
                Timestamp::from_millisecond(millis).map_err(|error| self.corrupt(column, error))
            })
            .transpose()
    }

    pub fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        serde_json::from_str(&self.text(column)?).map_err(|error| self.corrupt(column, error))
    }

    pub fn optional_json<T: DeserializeOwned>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        self.optional_text(column)?
            .map(|text| serde_json::from_str(&text).map_err(|error| self.corrupt(column, error)))
            .transpose()
    }
}

/// Serialises a value as JSON text for a column.
pub(crate) fn to_json<T: Serialize + ?Sized>(
    table: &'static str,
    column: &'static str,
    value: &T,
) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt {
        table,
        column,
        reason: error.to_string(),
    })
}
