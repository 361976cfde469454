//! Everything that Portico remembers: sessions, Keystone tokens, codes and tokens of the command
//! line, limits, the audit log. On SQLite or PostgreSQL with the same queries, or on Redis with
//! scripts that answer the same.
//!
//! A stolen database opens nothing: what somebody shows us (cookie, code, token) is stored as a
//! keyed hash only, what we must show others (a Keystone token) is sealed; see [`sealing`].
//! Nothing here knows HTTP, Keystone or who may do what.
//!
//! Start with [`Store`] and [`Sessions`]. Each repository is a small view of the store:
//! `store.sessions().find(secret, now)`. Lookups answer `None` for what is not there, has
//! expired or was ended; an error always means that the store could not say. The time is always
//! an argument.
mod access_tokens;
mod advice;
mod audit;
mod authorization_codes;
mod backend;
mod browser_marks;
mod cause;
mod changes;
mod config;
mod device_codes;
mod error;
mod file_identity;
mod handover;
mod kept_forms;
mod keystone_tokens;
mod logout_marks;
mod measured;
mod pending_revocations;
mod provider_flows;
mod provider_tokens;
mod random;
mod reach;
mod redis;
mod row;
pub mod sealing;
mod session_credentials;
mod sessions;
mod sign_in_accounts;
mod sign_in_flows;
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
pub use cause::StoreCause;
pub use changes::{Change, ChangeKind, Changes, News, Position};
pub use config::StoreConfig;
pub use device_codes::{DeviceCodes, DevicePoll, DeviceRequest, NewDeviceCode, StartedDevice};
pub use error::StoreError;
pub use handover::{Handover, Handovers, NewHandover};
pub use kept_forms::{KeptForm, KeptForms, NewKeptForm};
pub use keystone_tokens::{KeystoneToken, KeystoneTokens, NewKeystoneToken, Stored};
pub use logout_marks::LogoutMarks;
pub use measured::describe_metrics;
pub use pending_revocations::{PendingRevocation, UnfinishedRevocations};
pub use provider_flows::{NewProviderFlow, ProviderFlow, ProviderFlows};
pub use provider_tokens::{
    EndedTokens, HeldTokens, Lease, NewProviderTokens, ProviderTokens, RefreshedTokens,
};
pub use random::random_secret;
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
