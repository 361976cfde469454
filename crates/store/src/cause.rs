//! Why the store fails: one typed cause for what SQLite, PostgreSQL and Redis report.
use portico_transport::TransportFault;
use redis::{ErrorKind, ServerErrorKind};
use std::fmt;

/// The cause of a [`crate::StoreError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StoreCause {
    /// The server cannot be reached over the network.
    #[error("{0}")]
    Transport(TransportFault),
    /// User or password are wrong.
    #[error("the server refuses the user name or the password")]
    Credentials,
    /// The server has no database with that name.
    #[error("the server has no database of this name")]
    DatabaseMissing,
    /// The user lacks a permission that Portico needs.
    #[error("the database user lacks a permission")]
    Permission,
    /// The server takes no more connections.
    #[error("the server takes no more connections")]
    TooManyConnections,
    /// The server is starting, stopping or loading its data.
    #[error("the server is starting or shutting down")]
    StartingUp,
    /// Every connection of the pool is in use.
    #[error("every connection to the database is in use")]
    Busy,
    /// The server is a replica, or the file is read-only.
    #[error("the database is read-only")]
    ReadOnly,
    /// The disk is full, or Redis is out of memory.
    #[error("the database has no space left")]
    Full,
    /// The file or its contents are damaged.
    #[error("the database file is damaged, or is not a database")]
    Damaged,
    /// The file cannot be opened or created.
    #[error("the database file cannot be opened")]
    FileUnusable,
    /// The file was deleted while Portico was running.
    #[error("the database file was deleted while it was open")]
    FileDeleted,
    /// The open file was replaced by another one.
    #[error("the database file was replaced while it was open")]
    FileReplaced,
    /// Redis holds no store: it was never initialised, or its data was lost.
    #[error("NOSTORE: Redis is not initialised, or has lost everything")]
    Uninitialised,
    /// The store was written with other keys.
    #[error("the store was written with keys that are not in store.key_files")]
    OtherKeys,
    /// The database schema is of an older version.
    #[error("the store has not been migrated for this version")]
    NotMigrated,
    /// The database schema is of a newer version.
    #[error("the store was migrated by a newer version")]
    TooNew,
    /// `store.url` or `store.key_files` cannot be used.
    #[error("the section [store] cannot be used")]
    Configuration,
    /// An entry was changed by another program.
    #[error("an entry of the store was changed")]
    Entry,
    /// Any other cause; the error's own text has the details.
    #[error("the database reports an error")]
    Other,
}

/// The reason why no connection can be made.
#[derive(Clone, Debug)]
pub(crate) struct Unreachable {
    pub cause: StoreCause,
    /// The database's own message, if there is one.
    pub detail: Option<String>,
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail {
            Some(detail) => f.write_str(detail),
            None => self.cause.fmt(f),
        }
    }
}

impl std::error::Error for Unreachable {}

impl From<Unreachable> for sqlx::Error {
    fn from(unreachable: Unreachable) -> Self {
        Self::Configuration(Box::new(unreachable))
    }
}

impl StoreCause {
    /// Returns what an operator should do about it, as an imperative.
    pub fn next_step(self) -> &'static str {
        match self {
            Self::Transport(TransportFault::UnknownAuthority) => {
                "name the authority of the server's certificate: `?sslrootcert=FILE` in the URL of \
                 PostgreSQL, `?ca_file=FILE` in that of Redis"
            }
            Self::Transport(fault) => fault.next_step(),
            Self::Credentials => {
                "correct user and password in store.url (percent-encoded), and the server's \
                 pg_hba.conf or ACL"
            }
            Self::DatabaseMissing => {
                "create it (`createdb -O portico portico`), or correct its name in store.url"
            }
            Self::Permission => "grant the user of store.url every right on its own database",
            Self::TooManyConnections => {
                "raise the server's max_connections, or lower store.max_connections"
            }
            Self::StartingUp => "wait until the server is up; its log shows the progress",
            Self::Busy => {
                "look for slow statements on the server; raise store.max_connections if it is idle"
            }
            Self::ReadOnly => {
                "name the primary's address in store.url, or make the file and its directory \
                 writable for Portico's user"
            }
            Self::Full => "make room on the database's disk (memory for Redis)",
            Self::Damaged => {
                "restore the file from a backup; to start from nothing, move it away and run \
                 `portico migrate` (all users are signed out)"
            }
            Self::FileUnusable => {
                "check that the directory in store.url exists and that Portico's user may write to \
                 it"
            }
            Self::FileDeleted | Self::FileReplaced => {
                "restart Portico with the right file in place: what was written since is in no \
                 file and will be lost"
            }
            Self::Uninitialised => {
                "restore Redis' files; to start from nothing, run `portico migrate` (all users \
                 are signed out)"
            }
            Self::OtherKeys => {
                "put the key that the store was written with back into store.key_files, or name \
                 this installation's own store in store.url"
            }
            Self::NotMigrated => "run `portico migrate`",
            Self::TooNew => "use the version of portico that migrated it, or a newer one",
            Self::Configuration => "correct [store]; `portico config schema` describes its keys",
            Self::Entry => {
                "find out who else writes to this store; a backup of before has the entry"
            }
            Self::Other => "look at the database's log",
        }
    }

    /// Returns the cause in words for users, as the end of a sentence about Portico's database.
    /// Names no host, file or software.
    pub fn for_users(self) -> &'static str {
        match self {
            Self::Transport(fault) => fault.for_users(),
            Self::Credentials | Self::Permission => "does not let Portico in",
            Self::TooManyConnections | Self::Busy => "is overloaded",
            Self::StartingUp => "is starting",
            Self::ReadOnly => "is read-only",
            Self::Full => "has no space left",
            Self::DatabaseMissing | Self::FileUnusable => "is missing",
            Self::Damaged => "is damaged",
            Self::FileDeleted | Self::FileReplaced => "was replaced while in use",
            Self::Uninitialised => "is empty after a restart, and is treated as unreachable",
            Self::OtherKeys => "belongs to another installation",
            Self::NotMigrated | Self::TooNew => "is of another version",
            Self::Configuration | Self::Entry | Self::Other => "reports an error",
        }
    }

    /// Returns whether a new connection would fail in the same way, so that waiting for one is
    /// pointless.
    pub(crate) fn is_definite(self) -> bool {
        matches!(
            self,
            Self::Transport(_)
                | Self::Credentials
                | Self::DatabaseMissing
                | Self::StartingUp
                | Self::Damaged
                | Self::FileUnusable
        )
    }

    pub(crate) fn of_sql(error: &sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(error) => Self::of_code(error.code().as_deref().unwrap_or("")),
            sqlx::Error::PoolTimedOut => Self::Busy,
            sqlx::Error::Configuration(error) => match error.downcast_ref::<Unreachable>() {
                Some(unreachable) => unreachable.cause,
                None => TransportFault::of(&**error).map_or(Self::Configuration, Self::Transport),
            },
            error => TransportFault::of(error).map_or(Self::Other, Self::Transport),
        }
    }

    /// Returns the cause of an SQLSTATE of PostgreSQL (appendix A of its manual) or of a result
    /// code of SQLite.
    fn of_code(code: &str) -> Self {
        match code {
            "28000" | "28P01" => Self::Credentials,
            "3D000" => Self::DatabaseMissing,
            "42501" => Self::Permission,
            "53300" => Self::TooManyConnections,
            "57P01" | "57P02" | "57P03" => Self::StartingUp,
            "25006" => Self::ReadOnly,
            "53100" | "53200" => Self::Full,
            "XX001" | "XX002" => Self::Damaged,
            // the low byte is the primary code
            _ => match code.parse::<u32>().map(|code| code & 0xff) {
                Ok(3 | 23) => Self::Permission,
                Ok(5 | 6) => Self::Busy,
                Ok(8) => Self::ReadOnly,
                Ok(11 | 26) => Self::Damaged,
                Ok(13) => Self::Full,
                Ok(14) => Self::FileUnusable,
                _ => Self::Other,
            },
        }
    }

    pub(crate) fn of_redis(error: &redis::RedisError) -> Self {
        match error.code().unwrap_or_default() {
            "NOSTORE" => return Self::Uninitialised,
            "WRONGPASS" | "NOAUTH" => return Self::Credentials,
            "OOM" | "MISCONF" => return Self::Full,
            _ => {}
        }
        match error.kind() {
            ErrorKind::AuthenticationFailed => Self::Credentials,
            ErrorKind::Server(ServerErrorKind::ReadOnly) => Self::ReadOnly,
            ErrorKind::Server(ServerErrorKind::NoPerm) => Self::Permission,
            ErrorKind::Server(ServerErrorKind::BusyLoading) => Self::StartingUp,
            ErrorKind::InvalidClientConfig => Self::Configuration,
            _ => TransportFault::of(error).map_or(Self::Other, Self::Transport),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_o3_codes_of_postgresql_and_sqlite_have_one_cause_each() {
        for (code, cause) in [
            ("28P01", StoreCause::Credentials),
            ("3D000", StoreCause::DatabaseMissing),
            ("53300", StoreCause::TooManyConnections),
            ("57P03", StoreCause::StartingUp),
            ("26", StoreCause::Damaged),
            ("11", StoreCause::Damaged),
            // SQLITE_CORRUPT_INDEX, SQLITE_READONLY_DBMOVED
            ("779", StoreCause::Damaged),
            ("1032", StoreCause::ReadOnly),
            ("14", StoreCause::FileUnusable),
            ("13", StoreCause::Full),
            ("42P01", StoreCause::Other),
        ] {
            assert_eq!(StoreCause::of_code(code), cause, "{code}");
        }
    }
}
