//! The authentication page: how a cluster identifies people, whom it accepts, and trying both.
use super::{Health, Reading, RightQuestion, Subject, TerminalHelp};
use crate::{
    cluster::{RawTokens, TokenKind},
    identity::Named,
};
use serde::{Deserialize, Serialize};

/// The authentication page of one cluster; its live figures come by themselves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuthenticationView {
    /// Who the viewer is at this cluster, as kube-auth works it out.
    pub own: KubernetesUser,
    /// Bare role IDs are no groups here: each role says its project.
    pub qualified_groups: bool,
    pub raw_tokens: RawTokens,
    /// A policy of Portico's takes part in authorization, beside RBAC.
    pub authorization_policy: bool,
    pub audiences: Vec<String>,
    pub accepted: Accepted,
    pub own_token: Acceptance,
    pub last_self_test: Option<SelfTest>,
    pub user_test: Reading<UserTestForm>,
    pub last_user_test: Option<UserTest>,
    /// Where the documentation is published, if anywhere.
    pub docs_url: Option<String>,
    pub terminal: TerminalHelp,
}

/// A user as Kubernetes sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KubernetesUser {
    pub username: String,
    pub uid: String,
    pub groups: Vec<KubernetesGroup>,
    pub extra: Vec<(String, Vec<String>)>,
}

/// A group with what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KubernetesGroup {
    pub name: String,
    pub subject: Subject,
}

/// Whose tokens a cluster accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub projects: Vec<AcceptedId>,
    pub domains: Vec<AcceptedId>,
    /// Empty: any role will do.
    pub roles: Vec<AcceptedId>,
    /// Kinds of tokens that count besides those of a sign-in to a project.
    pub tokens: Vec<TokenKind>,
}

/// An entry of the allow-list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedId {
    pub id: String,
    /// Where the viewer may know it.
    pub name: Option<String>,
    /// The viewer's token carries it.
    pub own: bool,
}

/// Whether a token is accepted, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acceptance {
    pub accepted: bool,
    /// A whole sentence.
    pub reason: String,
    pub next_step: Option<String>,
}

/// What became of a real request with the viewer's own new cluster token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfTest {
    /// Unix seconds.
    pub at: i64,
    /// From the first byte sent to the API server's answer; none when nothing was sent.
    pub milliseconds: Option<u64>,
    pub passed: bool,
    /// What the API server answered, as a whole sentence.
    pub answer: String,
    pub next_step: Option<String>,
    /// Each part that the request passes, in order.
    pub stops: Vec<TestStop>,
    pub user: Option<TestedUser>,
}

/// One part that a request passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestStop {
    pub name: String,
    pub health: Health,
    pub text: String,
}

/// Who answered the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestedUser {
    pub user: KubernetesUser,
    /// Worked out here, because the API server cannot say it (before Kubernetes 1.26).
    pub computed: bool,
}

/// What a test of somebody else can be made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTestForm {
    /// Accepted projects that the viewer knows.
    pub projects: Vec<Named>,
    /// Roles that are known by name.
    pub roles: Vec<Named>,
    /// Empty where the viewer may not list them.
    pub namespaces: Vec<String>,
}

/// Somebody to test, as the form's fields hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserTestRequest {
    pub user_id: String,
    /// `<user name>@<domain name>`; only bindings that name a User depend on it.
    pub username: String,
    pub project: String,
    pub roles: Vec<String>,
    /// More role IDs, and groups, apart by white space or commas.
    pub more_roles: String,
    pub groups: String,
    pub namespace: String,
}

/// What somebody could do, worked out by access reviews without them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTest {
    pub at: i64,
    pub request: UserTestRequest,
    pub outcome: UserTestOutcome,
}

/// How a test of somebody went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "value")]
pub enum UserTestOutcome {
    /// The form's fields cannot be meant; a sentence or two.
    Invalid(String),
    Asked {
        user: KubernetesUser,
        /// Where the roles come from; a sentence.
        roles: String,
        accepted: Acceptance,
        /// Empty when the cluster would not accept the token.
        answers: Vec<UserTestAnswer>,
    },
}

/// The API server's answer to one question about somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserTestAnswer {
    /// "Open terminals in pods".
    pub what: String,
    pub question: RightQuestion,
    pub allowed: bool,
    /// The binding or rule that allowed it, in the API server's words.
    pub reason: String,
}

/// What kube-auth counts about one cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "value")]
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
    /// Over the last few minutes that somebody looked, with their seconds.
    pub recent: Option<(u64, ReviewFigures)>,
    pub keystone: KeystoneFigures,
}

/// Token reviews of one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewFigures {
    pub authenticated: u64,
    pub refused: u64,
    /// Nobody could say: Keystone did not answer.
    pub cannot_say: u64,
    /// No token reviews at all, by their form.
    pub invalid: u64,
    /// Answered without asking Keystone.
    pub cached: u64,
    /// Microseconds, estimated from a histogram; none without a review.
    pub p50: Option<Quantile>,
    pub p99: Option<Quantile>,
}

impl ReviewFigures {
    /// Reviews that were answered or should have been.
    pub fn total(&self) -> u64 {
        self.authenticated + self.refused + self.cannot_say
    }
}

/// An estimated duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quantile {
    pub microseconds: u64,
    /// It is that or longer: above the histogram's last bound.
    pub or_more: bool,
}

/// Keystone as kube-auth met it last, for whichever cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeystoneFigures {
    /// Unix seconds.
    pub last_answer: Option<i64>,
    pub last_failure: Option<i64>,
}

impl KeystoneFigures {
    /// Whether the last word about a token was none; nothing before the first question.
    pub fn failing(&self) -> Option<bool> {
        match (self.last_answer, self.last_failure) {
            (None, None) => None,
            (answer, failure) => Some(failure > answer),
        }
    }
}
