//! Checks before a change, as errors and warnings of a command.
use super::console::Console;
use super::error::ClusterError;
use super::exit_code;
use portico_lifecycle::preflight::{Checks, Level};

/// Refuses what the checks do not permit. `refused` is such as "the cluster cannot be created".
///
/// # Errors
/// [`ClusterError::Blocked`] with all reasons and the exit code of the first.
pub fn ensure(checks: &Checks, refused: &str) -> Result<(), ClusterError> {
    let blocking: Vec<_> = checks
        .0
        .iter()
        .filter(|check| check.level == Level::Blocks)
        .collect();
    let Some(first) = blocking.first() else {
        return Ok(());
    };
    let reasons: Vec<_> = blocking
        .iter()
        .map(|check| format!("{}: {}", check.subject, check.text))
        .collect();
    Err(ClusterError::Blocked {
        exit: exit_code_of(first.subject),
        text: format!("{refused}; nothing was sent\n  {}", reasons.join("\n  ")),
    })
}

/// Writes the warnings to standard error.
pub fn warn(checks: &Checks, console: &mut Console) {
    for check in &checks.0 {
        if check.level == Level::Warning {
            console.say(format!("{}: {}", check.subject, check.text));
        }
    }
}

/// Returns the exit code for a check that does not permit a change.
pub fn exit_code_of(subject: &str) -> u8 {
    match subject {
        "Specification" | "Bounds" | "Size" => exit_code::INVALID,
        "State" | "Template" | "Version" => exit_code::CONFLICT,
        "Rights" => exit_code::FORBIDDEN,
        "Quota" => exit_code::QUOTA,
        "Magnum" => exit_code::UNAVAILABLE,
        // a refusal of the plan is one of the driver
        "API" | "Node group" | "Node groups" | "Plan" | "Driver" => exit_code::UNSUPPORTED,
        _ => exit_code::NEGATIVE,
    }
}

/// Returns the word of a level.
pub fn level(level: Level) -> &'static str {
    match level {
        Level::Ok => "ok",
        Level::Warning => "warning",
        Level::Blocks => "blocks",
    }
}
