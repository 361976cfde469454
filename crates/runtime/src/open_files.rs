//! The limit on open files of the process (`RLIMIT_NOFILE`, getrlimit(2)).
//!
//! The soft limit is low for programs that use `select`. A server raises it to what its
//! administrator allows: each connection is a file, and each proxied WebSocket is two.
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard one; returns the limit that applies from now on.
pub fn raise() -> u64 {
    let limits = getrlimit(Resource::Nofile);
    let wanted = Rlimit {
        current: limits.maximum,
        ..limits
    };
    // if it cannot be raised, it stays unchanged
    let counts = match setrlimit(Resource::Nofile, wanted) {
        Ok(()) => wanted.current,
        Err(_) => limits.current,
    };
    counts.unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hard_limit_is_used() {
        let hard = getrlimit(Resource::Nofile).maximum;
        assert_eq!(raise(), hard.unwrap_or(u64::MAX));
        assert_eq!(getrlimit(Resource::Nofile).current, hard);
    }
}
