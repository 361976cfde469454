//! Metric labels of Redis commands: the table and operation of the corresponding SQL statement.
use crate::instrumented_pool::OTHER;

/// Maps a part of an operation's name to a table; the first match counts.
const TABLES: [(&str, &str); 30] = [
    ("browser session", "browser_sessions"),
    ("an account's", "sign_in_accounts"),
    ("a provider's tokens", "provider_tokens"),
    ("at a provider", "provider_flows"),
    ("logout token", "logout_marks"),
    ("namespace candidate", "namespace_candidates"),
    ("change", "session_changes"),
    ("credential", "session_credentials"),
    ("Keystone token", "keystone_tokens"),
    ("revocation", "keystone_tokens"),
    ("roles", "keystone_tokens"),
    ("audit", "audit_events"),
    ("device", "device_codes"),
    ("form", "saved_forms"),
    ("hand-over", "handover_codes"),
    ("authorization code", "authorization_codes"),
    ("refresh token", "refresh_tokens"),
    ("a token", "access_tokens"),
    ("access token", "access_tokens"),
    ("sign-in", "sign_in_flows"),
    ("receipt", "sign_in_flows"),
    ("attempt", "sign_in_flows"),
    ("failure", "sign_in_throttles"),
    ("limit", "sign_in_throttles"),
    ("mark a code", "totp_marks"),
    ("last project", "user_last_projects"),
    ("of new tokens", "sessions"),
    ("session", "sessions"),
    ("users", "sessions"),
    ("project", "sessions"),
];

const STATEMENTS: [(&str, &str); 17] = [
    ("find", "select"),
    ("read", "select"),
    ("list", "select"),
    ("count sessions", "select"),
    ("count pending", "select"),
    ("store", "insert"),
    ("start", "insert"),
    ("begin", "insert"),
    ("save", "insert"),
    ("append", "insert"),
    ("announce", "insert"),
    ("mark", "insert"),
    ("redeem", "delete"),
    ("forget", "delete"),
    ("finish", "delete"),
    ("take a sign-in", "delete"),
    ("delete", "delete"),
];

/// Returns the table and statement of an operation.
pub(super) fn labels(operation: &str) -> (&'static str, &'static str) {
    let table = TABLES.iter().find(|(words, _)| operation.contains(words));
    let Some((_, table)) = table else {
        return (OTHER, OTHER);
    };
    let statement = STATEMENTS
        .iter()
        .find(|(verb, _)| operation.starts_with(verb));
    (
        table,
        statement.map_or("update", |(_, statement)| statement),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_counts_as_its_statement() {
        for (operation, expected) in [
            ("find a session", ("sessions", "select")),
            ("touch a session", ("sessions", "update")),
            ("store a Keystone token", ("keystone_tokens", "insert")),
            ("count pending revocations", ("keystone_tokens", "select")),
            ("count a failure", ("sign_in_throttles", "update")),
            ("count an account's failure", ("sign_in_accounts", "update")),
            ("redeem a hand-over code", ("handover_codes", "delete")),
            ("read the feed of changes", ("session_changes", "select")),
            (
                "claim a session's credential",
                ("session_credentials", "update"),
            ),
            ("find a token", ("access_tokens", "select")),
            ("rotate a refresh token", ("refresh_tokens", "update")),
            ("mark a code", ("totp_marks", "insert")),
            ("find a browser session", ("browser_sessions", "select")),
            ("reach Redis", (OTHER, OTHER)),
        ] {
            assert_eq!(labels(operation), expected, "{operation}");
        }
    }
}
