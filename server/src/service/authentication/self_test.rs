//! "Test me": a real request with a cluster token that no API server has seen yet.
use super::{accepted, user};
use crate::{
    kube::{Api, KubeError, reviews, whoami},
    panel::caller::Caller,
    service::Services,
};
use jiff::Timestamp;
use portico_domain::{
    cluster::ClusterRecord,
    panel::{FiguresView, Health, ResourceRef, SelfTest, TestStop, TestedUser},
};
use std::time::Instant;

/// Sends the request and says how far it came. It is sent also when the allow-list speaks
/// against it: what the cluster does with it is what is tested.
pub async fn self_test(services: &Services, caller: &Caller, record: &ClusterRecord) -> SelfTest {
    let at = Timestamp::now();
    let acceptance = accepted::own(&services.names(caller), record, services);
    let mut test = SelfTest {
        at: at.as_second(),
        milliseconds: None,
        passed: false,
        answer: String::new(),
        next_step: None,
        stops: Vec::new(),
        user: None,
    };
    let api = match credential(services, caller, record, at) {
        Ok(api) => api,
        Err(failed) => {
            failed.write(&mut test);
            return test;
        }
    };
    let question = reviews::question("list", &ResourceRef::core("pods"), None);
    let started = Instant::now();
    let asked = reviews::review_now(&api, &question).await;
    test.milliseconds = u64::try_from(started.elapsed().as_millis()).ok();
    match asked {
        Ok(verdict) => {
            let may = if verdict.allowed { "yes" } else { "no" };
            test.answer = format!(
                "The API server knows you, and answered a SelfSubjectAccessReview (may you list \
                 pods in the whole cluster?) with {may}."
            );
            passed(&mut test);
        }
        Err(KubeError::Refused(message)) => {
            // it knows who asked: only the question itself was refused
            test.answer = format!("The API server knows you, and refused the question: {message}.");
            passed(&mut test);
            test.next_step = Some(
                "Nothing may be asked without the ClusterRole system:basic-user, which \
                 Kubernetes binds to system:authenticated: its administrators can bind it again."
                    .to_owned(),
            );
        }
        Err(error) => {
            let keystone = keystone_failed_since(services, record, at).await;
            Failed::of(&error, acceptance.accepted, keystone).write(&mut test);
            if !acceptance.accepted && matches!(error, KubeError::Unauthenticated) {
                test.next_step = acceptance.next_step;
            }
            return test;
        }
    }
    test.user = Some(who(services, caller, record, &api).await);
    test
}

/// The credential, or why there is none.
fn credential(
    services: &Services,
    caller: &Caller,
    record: &ClusterRecord,
    now: Timestamp,
) -> Result<Api, Failed> {
    let token = caller.token().ok_or_else(|| Failed {
        at: Stop::Portico,
        answer: "Portico has no token of yours for this project.".to_owned(),
        next_step: services.asks_for(),
    })?;
    if token.expires_at <= now {
        return Err(Failed {
            at: Stop::Portico,
            answer: "Your Keystone token has ended.".to_owned(),
            next_step: "Sign in again, then test once more.".to_owned(),
        });
    }
    services
        .clusters
        .fresh_api(record.id, token)
        .map_err(|error| Failed::of(&error, true, None))
}

/// Who the API server says it is; computed where it cannot say.
async fn who(
    services: &Services,
    caller: &Caller,
    record: &ClusterRecord,
    api: &Api,
) -> TestedUser {
    let names = services.names(caller);
    match whoami::whoami(api).await {
        Ok(Some(info)) => TestedUser {
            user: user::told(&names, info),
            computed: false,
        },
        other => {
            if let Err(error) = other {
                tracing::debug!(%error, "no answer to a SelfSubjectReview");
            }
            TestedUser {
                user: user::computed(&names, caller.identity(), record),
                computed: true,
            }
        }
    }
}

/// Whether kube-auth met a silent Keystone since then; `None` when its figures cannot be read.
async fn keystone_failed_since(
    services: &Services,
    record: &ClusterRecord,
    since: Timestamp,
) -> Option<bool> {
    match services.kube_auth_metrics.now(record.id).await {
        FiguresView::Known(figures) => Some(
            figures
                .keystone
                .last_failure
                .is_some_and(|failure| failure >= since.as_second()),
        ),
        _ => None,
    }
}

/// The parts that the request passes, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stop {
    Portico,
    ApiServer,
    KubeAuth,
    Keystone,
    Authorization,
}

impl Stop {
    const ALL: [Self; 5] = [
        Self::Portico,
        Self::ApiServer,
        Self::KubeAuth,
        Self::Keystone,
        Self::Authorization,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Portico => "Portico",
            Self::ApiServer => "API server",
            Self::KubeAuth => "kube-auth",
            Self::Keystone => "Keystone",
            Self::Authorization => "Authorization",
        }
    }

    fn passed(self) -> &'static str {
        match self {
            Self::Portico => "sealed a new cluster token",
            Self::ApiServer => "answered",
            Self::KubeAuth => "opened the token and said who you are",
            Self::Keystone => "confirmed the token, now or a few seconds ago",
            Self::Authorization => "decided",
        }
    }
}

fn passed(test: &mut SelfTest) {
    test.passed = true;
    test.stops = Stop::ALL
        .iter()
        .map(|stop| row(*stop, Health::Ok, stop.passed()))
        .collect();
}

fn row(stop: Stop, health: Health, text: &str) -> TestStop {
    TestStop {
        name: stop.name().to_owned(),
        health,
        text: text.to_owned(),
    }
}

/// Where it ended, as far as can be told from outside.
#[derive(Debug, PartialEq, Eq)]
struct Failed {
    at: Stop,
    answer: String,
    next_step: String,
}

impl Failed {
    fn of(error: &KubeError, accepted: bool, keystone_failed: Option<bool>) -> Self {
        let (at, next_step) = match error {
            KubeError::Unreachable(_) => (
                Stop::ApiServer,
                "The cluster's administrators can see whether it runs; `portico doctor` says \
                 whether there is a way to it from where Portico runs.",
            ),
            KubeError::Timeout(_) => (
                Stop::ApiServer,
                "Try again in a moment. If it stays so, look at the API server's load, and \
                 whether it reaches kube-auth: it waits for it.",
            ),
            KubeError::Unauthenticated if keystone_failed == Some(true) => (
                Stop::Keystone,
                "Nobody can be identified until Keystone answers again; `portico doctor` says \
                 what it tried.",
            ),
            KubeError::Unauthenticated if !accepted => (
                Stop::KubeAuth,
                "Ask for the project or the role to be accepted by this cluster.",
            ),
            KubeError::Unauthenticated => (
                Stop::KubeAuth,
                "kube-auth refused the token, or the API server could not ask it. kube-auth's \
                 log has one line for each refusal; the API server's log names the webhook.",
            ),
            KubeError::Unconfigured(_) | KubeError::NoToken => (
                Stop::Portico,
                "Its administrators find the cause in Portico's log and with `portico doctor`.",
            ),
            _ => (
                Stop::ApiServer,
                "Try again in a moment; if it stays so, the cluster's administrators find the \
                 cause in the API server's log.",
            ),
        };
        let answer = match (error, at) {
            (KubeError::Unauthenticated, Stop::Keystone) => {
                "The API server answered 401: kube-auth could not ask Keystone about your token."
                    .to_owned()
            }
            (KubeError::Unauthenticated, _) if !accepted => {
                "The API server answered 401, as the allow-list says: this cluster does not \
                 accept your token."
                    .to_owned()
            }
            (KubeError::Unauthenticated, _) => {
                "The API server answered 401: nobody confirmed to it who you are.".to_owned()
            }
            _ => error.sentence(),
        };
        Self {
            at,
            answer,
            next_step: next_step.to_owned(),
        }
    }

    fn write(self, test: &mut SelfTest) {
        test.stops = Stop::ALL
            .iter()
            .map(|stop| match stop.cmp(&self.at) {
                std::cmp::Ordering::Less => row(*stop, Health::Ok, before(*stop, self.at)),
                std::cmp::Ordering::Equal => row(*stop, Health::Failed, "it ended here"),
                std::cmp::Ordering::Greater => row(*stop, Health::Unknown, after(*stop, self.at)),
            })
            .collect();
        test.answer = self.answer;
        test.next_step = Some(self.next_step);
    }
}

/// What is known of a part behind the one that failed.
fn after(stop: Stop, end: Stop) -> &'static str {
    match (stop, end) {
        // kube-auth looks at the token first, and at its roles when Keystone has named them
        (Stop::Keystone, Stop::KubeAuth) => "may have been asked",
        _ => "not reached",
    }
}

/// What a part did when a later one failed.
fn before(stop: Stop, end: Stop) -> &'static str {
    match (stop, end) {
        (Stop::ApiServer, _) => "answered 401",
        (Stop::KubeAuth, Stop::Keystone) => "could not say whose token it is",
        _ => stop.passed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_part_that_failed() {
        for (error, accepted, keystone, expected) in [
            (
                KubeError::Unreachable("refused".to_owned()),
                true,
                None,
                Stop::ApiServer,
            ),
            (KubeError::Timeout(4), true, None, Stop::ApiServer),
            (KubeError::Unauthenticated, true, None, Stop::KubeAuth),
            (
                KubeError::Unauthenticated,
                true,
                Some(false),
                Stop::KubeAuth,
            ),
            (KubeError::Unauthenticated, true, Some(true), Stop::Keystone),
            (KubeError::Unauthenticated, false, None, Stop::KubeAuth),
            (
                KubeError::Server {
                    status: 503,
                    message: "starting".to_owned(),
                },
                true,
                None,
                Stop::ApiServer,
            ),
            (
                KubeError::Unconfigured("no key".to_owned()),
                true,
                None,
                Stop::Portico,
            ),
        ] {
            let failed = Failed::of(&error, accepted, keystone);
            assert_eq!(failed.at, expected, "{error:?}");
            assert!(
                failed.answer.ends_with('.') && failed.next_step.ends_with('.'),
                "{failed:?}"
            );
        }
    }

    #[test]
    fn what_lies_behind_the_failure_was_not_reached() {
        let mut test = SelfTest {
            at: 0,
            milliseconds: None,
            passed: false,
            answer: String::new(),
            next_step: None,
            stops: Vec::new(),
            user: None,
        };
        Failed::of(&KubeError::Unauthenticated, true, None).write(&mut test);
        let states: Vec<_> = test.stops.iter().map(|stop| stop.health).collect();
        use Health::{Failed as No, Ok, Unknown};
        assert_eq!(states, [Ok, Ok, No, Unknown, Unknown]);
        assert!(!test.passed && test.next_step.is_some());
        passed(&mut test);
        assert!(test.stops.iter().all(|stop| stop.health == Ok));
    }
}
