//! The state of a list in its address.
use super::escaped;

/// The value of `density` in an address; rows are comfortable without it.
const COMPACT: &str = "compact";
/// The value of `view` in an address; a list shows its rows without it.
const LOGS: &str = "logs";

/// The state of a list in its address, besides its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListState {
    /// Sorted; empty: all namespaces.
    pub namespaces: Vec<String>,
    pub search: String,
    pub labels: String,
    pub fields: String,
    /// Values of the status facet.
    pub status: Vec<String>,
    pub sort: String,
    /// The shown columns, if they are not the default ones: lower-case names, and `label:key`.
    pub columns: Vec<String>,
    /// Whether rows are low.
    pub compact: bool,
    /// Whether the logs of the pods are shown in place of the rows; only lists of pods have them.
    pub logs: bool,
    /// The first row of the window, counted from 0.
    pub offset: usize,
}

impl ListState {
    /// Reads the state; `values` returns every value of a parameter. A form without scripts repeats
    /// a parameter, an address made here has its values in one, separated by commas.
    pub fn read(values: impl Fn(&str) -> Vec<String>) -> Self {
        let text = |key| values(key).pop().unwrap_or_default();
        let list = |key| -> Vec<String> {
            values(key)
                .iter()
                .flat_map(|value| value.split(','))
                .map(str::trim)
                .filter(|value| !value.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let mut namespaces = list("namespace");
        namespaces.sort();
        namespaces.dedup();
        Self {
            namespaces,
            search: text("q"),
            labels: text("labels"),
            fields: text("fields"),
            // a status may have a comma in it (Ready,SchedulingDisabled)
            status: values("status")
                .into_iter()
                .filter(|status| !status.is_empty())
                .collect(),
            sort: text("sort"),
            columns: list("columns"),
            compact: text("density") == COMPACT,
            logs: text("view") == LOGS,
            offset: text("offset").parse().unwrap_or(0),
        }
    }

    /// Returns whether any row is left out, besides those of other namespaces.
    pub fn is_filtered(&self) -> bool {
        !(self.search.trim().is_empty()
            && self.labels.trim().is_empty()
            && self.fields.trim().is_empty()
            && self.status.is_empty())
    }

    /// Returns the address's query, with its question mark; empty if nothing is set.
    pub fn query(&self) -> String {
        let offset = if self.offset == 0 {
            String::new()
        } else {
            self.offset.to_string()
        };
        let density = if self.compact { COMPACT } else { "" };
        let view = if self.logs { LOGS } else { "" };
        let before = [
            ("namespace", self.namespaces.join(",")),
            ("q", self.search.clone()),
            ("labels", self.labels.clone()),
            ("fields", self.fields.clone()),
        ];
        let status = self.status.iter().map(|status| ("status", status.clone()));
        let after = [
            ("sort", self.sort.clone()),
            ("columns", self.columns.join(",")),
            ("density", density.to_owned()),
            ("view", view.to_owned()),
            ("offset", offset),
        ];
        let written: Vec<String> = before
            .into_iter()
            .chain(status)
            .chain(after)
            .filter(|(_, value)| !value.is_empty())
            .map(|(key, value)| format!("{key}={}", escaped(&value)))
            .collect();
        if written.is_empty() {
            String::new()
        } else {
            format!("?{}", written.join("&"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lists_state_is_in_its_address() {
        let state = ListState {
            namespaces: vec!["bank".to_owned(), "shop".to_owned()],
            search: "a b".to_owned(),
            labels: "app=web,tier!=db".to_owned(),
            fields: "restarts>3".to_owned(),
            status: vec!["CrashLoopBackOff".to_owned()],
            sort: "-age".to_owned(),
            columns: vec!["name".to_owned(), "label:app".to_owned()],
            compact: true,
            logs: true,
            offset: 200,
        };
        assert_eq!(
            state.query(),
            "?namespace=bank%2Cshop&q=a%20b&labels=app%3Dweb%2Ctier%21%3Ddb&fields=restarts%3E3\
             &status=CrashLoopBackOff&sort=-age&columns=name%2Clabel:app&density=compact\
             &view=logs&offset=200"
        );
        assert_eq!(ListState::default().query(), "");
    }

    #[test]
    fn a_lists_state_is_read_from_an_address_and_from_a_plain_form() {
        let address = |pairs: &'static [(&str, &str)]| {
            ListState::read(move |key| {
                pairs
                    .iter()
                    .filter(|(name, _)| *name == key)
                    .map(|(_, value)| (*value).to_owned())
                    .collect()
            })
        };
        let state = address(&[
            ("namespace", "shop,bank"),
            ("status", "Ready,SchedulingDisabled"),
            ("columns", "name,label:app"),
            ("density", "compact"),
            ("view", "logs"),
            ("offset", "50"),
        ]);
        assert_eq!(state.namespaces, ["bank", "shop"]);
        assert_eq!(state.status, ["Ready,SchedulingDisabled"]);
        assert_eq!(state.columns, ["name", "label:app"]);
        assert!(state.compact && state.logs);
        assert_eq!(state.offset, 50);
        let form = address(&[
            ("namespace", "shop"),
            ("namespace", "bank"),
            ("namespace", "shop"),
            ("status", "Failed"),
            ("status", "Running"),
            ("q", ""),
            ("offset", "many"),
        ]);
        assert_eq!(form.namespaces, ["bank", "shop"]);
        assert_eq!(form.status, ["Failed", "Running"]);
        assert!(form.is_filtered() && !form.logs);
        assert_eq!(address(&[("q", " ")]).offset, 0);
        assert!(!address(&[("q", " "), ("namespace", "shop")]).is_filtered());
    }
}
