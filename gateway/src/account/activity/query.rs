//! Reads the query of the audit page: filters, and where the page begins.
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use portico_store::{AuditFilter, Outcome};

use crate::http::{error_response::Problem, forms::Fields};

const MAX_TEXT_CHARS: usize = 255;

/// Kinds of actions that the page lists, with their names.
pub(crate) const ACTIONS: [(&str, &str); 7] = [
    ("session", "Sign-in and sessions"),
    ("cli", "Command line"),
    ("app", "Apps"),
    ("cluster", "Cluster tokens"),
    ("panel", "Changes in the panel"),
    ("form", "Saved forms"),
    ("audit", "Audit log"),
];

/// The page's query, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TrailQuery {
    /// The project whose entries are requested; `None` for the caller's own entries.
    pub project: Option<String>,
    /// A user's name or ID, among the project's entries.
    pub user: Option<String>,
    pub action: Option<String>,
    /// The ID of a cluster.
    pub cluster: Option<String>,
    /// An object of a cluster, as the entries name it: `shop/deployments.apps/web`.
    pub object: Option<String>,
    pub outcome: Option<Outcome>,
    /// First day, in UTC.
    pub since: Option<Date>,
    /// Last day, in UTC.
    pub until: Option<Date>,
    /// Only entries before this sequence number.
    pub before: Option<i64>,
}

impl TrailQuery {
    pub fn read(fields: &Fields) -> Result<Self, Problem> {
        let text = |name: &str| -> Option<String> {
            let text = fields.get(name).trim();
            (!text.is_empty()).then(|| text.chars().take(MAX_TEXT_CHARS).collect())
        };
        let day = |name: &'static str| {
            text(name)
                .map(|text| {
                    text.parse::<Date>().map_err(|_| {
                        Problem::bad_request(format!("{name} must be a date such as 2026-11-23."))
                    })
                })
                .transpose()
        };
        let project = text("project");
        Ok(Self {
            user: text("user").filter(|_| project.is_some()),
            project,
            action: text("action"),
            cluster: text("cluster"),
            object: text("object"),
            outcome: text("outcome")
                .map(|text| text.parse().map_err(Problem::bad_request))
                .transpose()?,
            since: day("since")?,
            until: day("until")?,
            before: text("before")
                .map(|text| {
                    text.parse()
                        .map_err(|_| Problem::bad_request("before must be a number."))
                })
                .transpose()?,
        })
    }

    /// Returns the filter for the store, not yet restricted to a user or project: the caller
    /// restricts it.
    pub fn filter(&self) -> AuditFilter {
        let start = |day: Date| -> Option<Timestamp> {
            day.to_zoned(TimeZone::UTC)
                .ok()
                .map(|zoned| zoned.timestamp())
        };
        AuditFilter {
            user: self.user.clone(),
            action: self.action.clone(),
            cluster_id: self.cluster.clone(),
            target: self.object.clone(),
            outcome: self.outcome,
            since: self.since.and_then(start),
            // the last day is included
            until: self
                .until
                .and_then(|day| day.tomorrow().ok())
                .and_then(start),
            before: self.before,
            ..AuditFilter::default()
        }
    }

    /// Returns whether the query selects only some of the entries.
    pub fn is_filtered(&self) -> bool {
        *self
            != Self {
                project: self.project.clone(),
                before: self.before,
                ..Self::default()
            }
    }

    /// Returns the query of the same page with another beginning.
    pub fn beginning(&self, before: Option<i64>) -> String {
        let since = self.since.map(|day| day.to_string());
        let until = self.until.map(|day| day.to_string());
        let before = before.map(|sequence| sequence.to_string());
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in [
            ("project", self.project.as_deref()),
            ("user", self.user.as_deref()),
            ("action", self.action.as_deref()),
            ("cluster", self.cluster.as_deref()),
            ("object", self.object.as_deref()),
            ("outcome", self.outcome.map(Outcome::as_str)),
            ("since", since.as_deref()),
            ("until", until.as_deref()),
            ("before", before.as_deref()),
        ] {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        query.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<TrailQuery, Problem> {
        TrailQuery::read(&Fields::of_text(query)?)
    }

    #[test]
    fn audit_query_is_kept_from_page_to_page() {
        let text = "project=p1&user=ada&action=panel&cluster=c1&object=shop%2Fpods%2Fweb&outcome=denied&since=2026-11-01\
                    &until=2026-11-23&before=42";
        let query = read(text).expect("a query");
        assert_eq!(query.beginning(query.before), text);
        let filter = query.filter();
        let until = filter.until.expect("an end");
        assert_eq!(until.to_string(), "2026-11-24T00:00:00Z");
        assert!(query.is_filtered());
        assert!(!read("project=p1&before=7").expect("a query").is_filtered());
    }

    #[test]
    fn audit_query_never_names_whose_entries_are_read() {
        let filter = read("user=vera&user_id=u2").expect("a query").filter();
        assert_eq!(filter, AuditFilter::default());
        let filter = read("project=p2").expect("a query").filter();
        assert_eq!(filter.project_id, None);
    }

    #[test]
    fn audit_query_that_cannot_be_read_is_refused() {
        for query in ["since=yesterday", "until=1", "outcome=good", "before=x"] {
            assert!(read(query).is_err(), "{query}");
        }
    }
}
