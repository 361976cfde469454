//! The operator who runs a command on a server, for the audit log.

/// The reason in the entries of such commands.
pub(super) const REASON: &str = "from the server's command line";

const MAX_NAME_CHARS: usize = 64;

/// Returns the user name of an entry: `operator` and the account on the machine.
pub(super) fn audit_name() -> String {
    let account = std::env::var("SUDO_USER")
        .or_else(|_| std::env::var("USER"))
        .unwrap_or_else(|_| "unknown".to_owned());
    let account: String = account
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_NAME_CHARS)
        .collect();
    format!("operator {account}")
}
