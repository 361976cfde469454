//! Compares single fields.
use super::Difference;
use crate::status::Status;

/// Adds a field if it differs.
pub fn compare(
    all: &mut Vec<Difference>,
    field: &str,
    before: Option<&str>,
    after: Option<&str>,
    is_requested: bool,
) {
    if before == after {
        return;
    }
    all.push(Difference {
        field: field.to_owned(),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
        is_requested,
    });
}

/// Returns whether a state is one that only a request leads to.
pub fn begins_operation(before: &str, after: &str) -> bool {
    let activity = |status: &str| match Status::parse(status) {
        Status::Known(activity, _) => Some(activity),
        Status::Other(_) => None,
    };
    is_busy(after) && (!is_busy(before) || activity(before) != activity(after))
}

/// Returns whether Magnum works on what has this state.
pub fn is_busy(status: &str) -> bool {
    Status::parse(status).is_in_progress() || status.ends_with("_IN_PROGRESS")
}

/// Returns a text unless it is empty.
pub fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
