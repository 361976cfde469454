//! Exit codes of `portico cluster`, so that scripts can tell the outcomes apart.
//! `docs/reference/exit-codes.md` lists them for users.

/// A negative answer: `diff` found differences, a check failed, a confirmation was refused.
pub const NEGATIVE: u8 = 1;
/// The command line or a local file is invalid.
pub const USAGE: u8 = 2;
pub const NOT_FOUND: u8 = 3;
/// Several objects have the name, or the state forbids it.
pub const CONFLICT: u8 = 4;
/// The cloud's policy does not permit it.
pub const FORBIDDEN: u8 = 5;
pub const QUOTA: u8 = 6;
/// A value is invalid, by Magnum's rules.
pub const INVALID: u8 = 7;
/// The operation ended in a state `…_FAILED`.
pub const FAILED: u8 = 8;
/// Waiting timed out; the operation continues.
pub const TIMED_OUT: u8 = 9;
/// Sign in again.
pub const SIGN_IN: u8 = 10;
/// A service did not answer, or failed.
pub const UNAVAILABLE: u8 = 11;
/// Magnum accepted the request and did not act on it.
pub const NOT_ACTED_ON: u8 = 12;
/// The driver, the version of Magnum or the cloud does not support it.
pub const UNSUPPORTED: u8 = 13;
/// Several steps, of which not all were carried out.
pub const PARTLY: u8 = 14;
/// Interrupted while waiting; the operation continues.
pub const INTERRUPTED: u8 = 130;

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/reference/exit-codes.md");

    #[test]
    fn every_exit_code_of_clusters_is_documented() {
        let (_, section) = PAGE.split_once("## portico cluster").unwrap();
        let codes = [
            0,
            NEGATIVE,
            USAGE,
            NOT_FOUND,
            CONFLICT,
            FORBIDDEN,
            QUOTA,
            INVALID,
            FAILED,
            TIMED_OUT,
            SIGN_IN,
            UNAVAILABLE,
            NOT_ACTED_ON,
            UNSUPPORTED,
            PARTLY,
            INTERRUPTED,
        ];
        for code in codes {
            assert!(section.contains(&format!("| `{code}` |")), "{code}");
        }
        assert_eq!(section.matches("\n| `").count(), codes.len());
    }
}
