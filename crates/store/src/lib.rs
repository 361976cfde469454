//! Portico's storage: sessions, Keystone tokens, codes and tokens of the command line, rate limits
//! and the audit log. It runs on SQLite or PostgreSQL with the same queries, or on Redis with
//! equivalent scripts.
//!
//! A stolen database grants no access: what clients present (cookie, code, token) is stored as a
//! keyed hash only, and what Portico presents to others (a Keystone token) is sealed; see
//! [`sealing`]. Nothing here depends on HTTP, Keystone or permissions.
//!
//! Start with [`Store`] and [`Sessions`]. Each repository is a trait with one implementation for SQL
//! (`sql`) and one for Redis (`redis`), and the store returns the one of its database:
//! `store.sessions().find(secret, now)`. Lookups return `None` for entries that do not exist, have
//! expired or were ended; an error always means that the store could not be queried. The time is
//! always an argument.
mod access_tokens;
mod advice;
mod audit;
mod authorization_codes;
mod browser_marks;
mod browser_sessions;
mod cause;
mod changes;
mod cluster_journal;
mod cluster_protections;
mod config;
mod creation_attempts;
mod database;
mod device_codes;
mod enrolled_clusters;
mod error;
mod file_identity;
mod handover;
mod instrumented_pool;
mod keystone_tokens;
mod logout_marks;
mod namespace_candidates;
mod pending_revocations;
mod provider_flows;
mod provider_tokens;
mod random;
mod reach;
mod redis;
mod row;
mod saved_forms;
pub mod sealing;
mod session_credentials;
mod sessions;
mod shared;
mod sign_in_accounts;
mod sign_in_flows;
mod sql;
mod store;
mod sweep;
mod throttle;
mod totp_marks;

pub use access_tokens::{AccessTokens, RefreshGrant, Rotation};
pub use advice::Advice;
pub use audit::{
    Audit, AuditEvent, AuditFilter, AuditSize, BreakKind, ChainBreak, ChainMark, ChainReport,
    NewAuditEvent, Outcome,
};
pub use authorization_codes::{AuthorizationCode, AuthorizationCodes, NewAuthorizationCode};
pub use browser_marks::BrowserMarks;
pub use browser_sessions::{
    BrowserSession, BrowserSessionCreation, BrowserSessions,
    MAX_DATA_BYTES as MAX_BROWSER_SESSION_BYTES,
};
pub use cause::StoreCause;
pub use changes::{Change, ChangeKind, Changes, News, Position};
pub use cluster_journal::{
    ClusterJournal, JournalCheck, JournalEntry, JournalFault, JournalHead, JournalKey,
    JournalMarks, JournalSource, LastObservation, MAX_CONTENT_BYTES as MAX_JOURNAL_CONTENT_BYTES,
    MAX_ENTRIES as MAX_JOURNAL_ENTRIES, NewJournalEntry, NewJournalEvent, check_journal,
};
pub use cluster_protections::{ClusterProtection, ClusterProtections, ProtectedCluster};
pub use config::StoreConfig;
pub use creation_attempts::{
    AttemptKey, AttemptLease, AttemptState, BegunAttempt, CreationAttempt, CreationAttempts,
    NewCreationAttempt,
};
pub use device_codes::{DeviceCodes, DevicePoll, DeviceRequest, NewDeviceCode, StartedDevice};
pub use enrolled_clusters::{AllEnrolledClusters, EnrolledClusters};
pub use error::StoreError;
pub use handover::{Handover, Handovers, NewHandover};
pub use instrumented_pool::describe_metrics;
pub use keystone_tokens::{KeystoneToken, KeystoneTokens, NewKeystoneToken, Stored};
pub use logout_marks::LogoutMarks;
pub use namespace_candidates::{NamespaceCandidate, NamespaceCandidates};
pub use pending_revocations::{PendingRevocation, UnfinishedRevocations};
pub use provider_flows::{NewProviderFlow, ProviderFlow, ProviderFlows};
pub use provider_tokens::{
    EndedTokens, HeldTokens, Lease, NewProviderTokens, ProviderTokens, RefreshedTokens,
};
pub use random::random_secret;
pub use saved_forms::{NewSavedForm, SavedForm, SavedForms};
pub use sealing::KeyRing;
pub use session_credentials::{NewSessionCredential, SessionCredential, SessionCredentials};
pub use sessions::{
    ChildKind, EndReason, EndedSession, NewChild, NewSession, ProviderProfile, Renewal, Session,
    SessionKind, SessionProvider, Sessions,
};
pub use sign_in_accounts::{FailedSignIns, SignInAccounts};
pub use sign_in_flows::{SignInFlow, SignInFlows, Started};
pub use store::Store;
pub use sweep::Swept;
pub use throttle::{Reservation, Reserved, Throttle, ThrottleLimit};
pub use totp_marks::TotpMarks;
