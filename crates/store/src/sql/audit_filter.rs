//! The SQL of a filter over the entries of the audit log.
use crate::audit::Outcome;
use crate::audit::filter::AuditFilter;
use jiff::Timestamp;
use std::fmt::Write as _;

/// The value of a parameter.
pub(super) enum Value {
    Text(String),
    Integer(i64),
}

/// The SQL conditions of a filter: only those that it sets, so that the database can use an index.
pub(super) struct Conditions {
    pub text: String,
    pub values: Vec<Value>,
}

impl Conditions {
    pub fn of(filter: &AuditFilter) -> Self {
        let mut all = Self {
            text: "sequence IS NOT NULL".to_owned(),
            values: Vec::new(),
        };
        let session = filter.session.map(|id| id.to_string());
        let texts = [
            ("user_id = ?", filter.user_id.as_deref()),
            ("session_id = ?", session.as_deref()),
            ("project_id = ?", filter.project_id.as_deref()),
            ("cluster_id = ?", filter.cluster_id.as_deref()),
            ("outcome = ?", filter.outcome.map(Outcome::as_str)),
        ];
        for (condition, value) in texts {
            if let Some(value) = value {
                all.and(condition, [Value::Text(value.to_owned())]);
            }
        }
        if let Some(user) = &filter.user {
            let values = [user.clone(), user.to_lowercase()].map(Value::Text);
            all.and("(user_id = ? OR LOWER(user_name) = ?)", values);
        }
        if let Some(action) = &filter.action {
            let group = format!("{action}.");
            let length = i64::try_from(group.len()).unwrap_or(i64::MAX);
            let values = [
                Value::Text(action.clone()),
                Value::Integer(length),
                Value::Text(group),
            ];
            all.and(
                "(action = ? OR SUBSTR(action, 1, CAST(? AS INTEGER)) = ?)",
                values,
            );
        }
        if let Some(target) = &filter.target {
            let longer = format!("{target} ");
            let length = i64::try_from(longer.chars().count()).unwrap_or(i64::MAX);
            let values = [
                Value::Text(target.clone()),
                Value::Integer(length),
                Value::Text(longer),
            ];
            all.and(
                "(target = ? OR SUBSTR(target, 1, CAST(? AS INTEGER)) = ?)",
                values,
            );
        }
        let integers = [
            ("sequence > ?", filter.after),
            ("sequence < ?", filter.before),
            (
                "at_millis >= ?",
                filter.since.map(Timestamp::as_millisecond),
            ),
            ("at_millis < ?", filter.until.map(Timestamp::as_millisecond)),
        ];
        for (condition, value) in integers {
            if let Some(value) = value {
                all.and(condition, [Value::Integer(value)]);
            }
        }
        all
    }

    /// Adds a condition; each `?` takes one value.
    fn and(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        let mut parts = condition.split('?');
        self.text.push_str(" AND ");
        self.text.push_str(parts.next().unwrap_or_default());
        for (part, value) in parts.zip(values) {
            self.values.push(value);
            // writing to a string cannot fail
            let _ = write!(self.text, "${}{part}", self.values.len());
        }
    }
}
