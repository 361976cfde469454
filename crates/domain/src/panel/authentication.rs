//! The authentication page: how a cluster authenticates users, whom it accepts, and tests of both.
use super::{Health, Reading, RightQuestion, Subject, TerminalHelp};
use crate::{
    cluster::{RawTokens, TokenKind},
    identity::Named,
};
use serde::{Deserialize, Serialize};

/// The authentication page of one cluster; its live figures are loaded separately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuthenticationView {
    /// The viewer's user at this cluster, as kube-auth derives it.
    pub own: KubernetesUser,
    /// Whether bare role IDs are left out of the groups: each role names its project.
    pub qualified_groups: bool,
    pub raw_tokens: RawTokens,
    /// Whether a policy of Portico's takes part in authorization, beside RBAC.
    pub authorization_policy: bool,
    pub audiences: Vec<String>,
    pub accepted: Accepted,
    pub own_token: Acceptance,
    pub last_self_test: Option<SelfTest>,
    pub user_test: Reading<UserTestForm>,
    pub last_user_test: Option<UserTest>,
    /// The URL at which the documentation is published, if any.
    pub docs_url: Option<String>,
    pub terminal: TerminalHelp,
}

/// A user in Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KubernetesUser {
    pub username: String,
    pub uid: String,
    pub groups: Vec<KubernetesGroup>,
    pub extra: Vec<(String, Vec<String>)>,
}

/// A group with its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KubernetesGroup {
    pub name: String,
    pub subject: Subject,
}

/// The tokens that a cluster accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub projects: Vec<AcceptedId>,
    pub domains: Vec<AcceptedId>,
    /// Empty: any role is sufficient.
    pub roles: Vec<AcceptedId>,
    /// Kinds of tokens that are accepted besides those of a sign-in to a project.
    pub tokens: Vec<TokenKind>,
}

/// An entry of the allow-list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedId {
    pub id: String,
    /// Set if the viewer may know it.
    pub name: Option<String>,
    /// Whether the viewer's token carries it.
    pub own: bool,
}

/// Whether a token is accepted, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    pub accepted: bool,
    /// A full sentence.
    pub reason: String,
    pub next_step: Option<String>,
}

/// The result of a real request with a new cluster token of the viewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Unix seconds.
    pub at: i64,
    /// From the first byte sent to the API server's response; none if nothing was sent.
    pub milliseconds: Option<u64>,
    pub passed: bool,
    /// The API server's response, as a full sentence.
    pub answer: String,
    pub next_step: Option<String>,
    /// Each component that the request passes, in order.
    pub stops: Vec<TestStop>,
    pub user: Option<TestedUser>,
}

/// One component that a request passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestStop {
    pub name: String,
    pub health: Health,
    pub text: String,
}

/// The user that the API server saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedUser {
    pub user: KubernetesUser,
    /// Derived here, because the API server cannot report it (before Kubernetes 1.26).
    pub computed: bool,
}

/// The options of a test of another user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTestForm {
    /// Accepted projects whose names the viewer may know.
    pub projects: Vec<Named>,
    /// Roles with known names.
    pub roles: Vec<Named>,
    /// Empty if the viewer may not list them.
    pub namespaces: Vec<String>,
}

/// A user to test, in the form's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserTestRequest {
    pub user_id: String,
    /// `<user name>@<domain name>`; only bindings that name a User depend on it.
    pub username: String,
    pub project: String,
    pub roles: Vec<String>,
    /// More role IDs, and groups, separated by white space or commas.
    pub more_roles: String,
    pub groups: String,
    pub namespace: String,
}

/// What another user could do, determined by access reviews.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTest {
    pub at: i64,
    pub request: UserTestRequest,
    pub outcome: UserTestOutcome,
}

/// The result of a test of another user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserTestOutcome {
    /// The form's fields are invalid; a sentence or two.
    Invalid(String),
    Asked {
        user: KubernetesUser,
        /// The source of the roles; a sentence.
        roles: String,
        accepted: Acceptance,
        /// Empty if the cluster would not accept the token.
        answers: Vec<UserTestAnswer>,
    },
}

/// The API server's answer to one question about a user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTestAnswer {
    /// "Open terminals in pods".
    pub what: String,
    pub question: RightQuestion,
    pub allowed: bool,
    /// The binding or rule that allowed it, in the API server's words.
    pub reason: String,
}

/// The metrics of kube-auth for one cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FiguresView {
    NotConfigured,
    Unavailable(String),
    Known(Figures),
}

/// The figures of one kube-auth process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// When they were read, Unix seconds.
    pub read_at: i64,
    /// When that process started.
    pub started_at: Option<i64>,
    pub since_start: ReviewFigures,
    /// Over the last few minutes with readings, with the number of seconds.
    pub recent: Option<(u64, ReviewFigures)>,
    pub keystone: KeystoneFigures,
}

/// Token reviews of one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewFigures {
    pub authenticated: u64,
    pub refused: u64,
    /// No decision was possible: Keystone did not respond.
    pub undecided: u64,
    /// Requests that are not valid token reviews.
    pub invalid: u64,
    /// Answered without a request to Keystone.
    pub cached: u64,
    /// Microseconds, estimated from a histogram; none without a review.
    pub p50: Option<Quantile>,
    pub p99: Option<Quantile>,
}

impl ReviewFigures {
    /// Returns the number of reviews that were answered or should have been.
    pub fn total(&self) -> u64 {
        self.authenticated + self.refused + self.undecided
    }
}

/// An estimated duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantile {
    pub microseconds: u64,
    /// The value is a lower bound: above the histogram's last bound.
    pub or_more: bool,
}

/// Keystone's state at kube-auth's last request, for any cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeystoneFigures {
    /// Unix seconds.
    pub last_answer: Option<i64>,
    pub last_failure: Option<i64>,
}

impl KeystoneFigures {
    /// Returns whether the last request about a token got no response; `None` before the first
    /// request.
    pub fn failing(&self) -> Option<bool> {
        match (self.last_answer, self.last_failure) {
            (None, None) => None,
            (answer, failure) => Some(failure > answer),
        }
    }
}
