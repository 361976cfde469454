//! Exit codes: those of sysexits.h where it has one. `docs/reference/exit-codes.md` lists them for
//! users.

/// A command failed, or found a fault.
pub const FAILURE: u8 = 1;
/// The configuration must be changed before another try makes sense (`EX_USAGE`).
pub const BAD_CONFIGURATION: u8 = 64;
/// A gateway or Keystone does not respond: another try later may succeed (`EX_UNAVAILABLE`).
pub const UNAVAILABLE: u8 = 69;
/// There is no valid session, or the request was refused: sign in, or ask for a role (`EX_NOPERM`).
pub const NOT_PERMITTED: u8 = 77;

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/reference/exit-codes.md");

    #[test]
    fn every_exit_code_is_documented() {
        let (page, _) = PAGE.split_once("## portico cluster").unwrap();
        // 0 means success; 2 is clap's code for an invalid command line
        for code in [0, FAILURE, 2, BAD_CONFIGURATION, UNAVAILABLE, NOT_PERMITTED] {
            assert!(page.contains(&format!("| `{code}` |")), "{code}");
        }
        assert_eq!(
            page.matches("\n| `").count(),
            6,
            "a row without a code of ours"
        );
    }
}
