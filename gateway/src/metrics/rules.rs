//! Metrics of rules files.
const CHANGES: &str = "portico_gateway_rules_changes_total";
const UNUSABLE: &str = "portico_gateway_rules_unusable";

/// Registers the help texts of the metrics.
pub(crate) fn describe() {
    metrics::describe_counter!(
        CHANGES,
        "Files of rules that were taken over while running, by app."
    );
    metrics::describe_gauge!(
        UNUSABLE,
        "1 while an app's file of rules cannot be used, and the last good rules are kept."
    );
}

/// Starts the metrics of an app with a rules file at zero.
pub(crate) fn begin(app: &str) {
    metrics::counter!(CHANGES, "app" => app.to_owned()).increment(0);
    metrics::gauge!(UNUSABLE, "app" => app.to_owned()).set(0.0);
}

/// Records the result of reading an app's file.
pub(crate) fn looked<E>(app: &str, outcome: &Result<bool, E>) {
    if matches!(outcome, Ok(true)) {
        metrics::counter!(CHANGES, "app" => app.to_owned()).increment(1);
    }
    let unusable = if outcome.is_err() { 1.0 } else { 0.0 };
    metrics::gauge!(UNUSABLE, "app" => app.to_owned()).set(unusable);
}
