//! "Test me": a real request with a new cluster token that no API server has seen.
use super::{accepted, user};
use crate::{
    caller::Caller,
    kube::{Api, Cluster, KubeError, reviews, whoami},
    service::Services,
};
use jiff::Timestamp;
use portico_domain::{
    cluster::ClusterRecord,
    panel::{FiguresView, Health, ResourceRef, SelfTest, TestStop, TestedUser},
};
use tokio::time::Instant;

/// Sends the request and reports how far it got. It is sent even if the allow-list would refuse it:
/// the cluster's behaviour is what is tested.
pub async fn self_test(services: &Services, caller: &Caller, cluster: &Cluster) -> SelfTest {
    let record = cluster.record();
    let at = services.clock.now();
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
    let api = match credential(services, caller, cluster, at) {
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
        Ok(result) => {
            let may = if result.allowed { "yes" } else { "no" };
            test.answer = format!(
                "The API server knows you, and answered a SelfSubjectAccessReview (may you list \
                 pods in the whole cluster?) with {may}."
            );
            passed(&mut test);
        }
        Err(KubeError::Refused(message)) => {
            // it authenticated the user: only the request itself was refused
            test.answer = format!("The API server knows you, and refused the question: {message}.");
            passed(&mut test);
            test.next_step = Some(
                "Access reviews require the ClusterRole system:basic-user, which Kubernetes binds \
                 to system:authenticated: its administrators can bind it again."
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

/// Returns the credential, or the reason why there is none.
fn credential(
    services: &Services,
    caller: &Caller,
    cluster: &Cluster,
    now: Timestamp,
) -> Result<Api, Failed> {
    let token = caller.token().ok_or_else(|| Failed {
        at: Hop::Portico,
        answer: "Portico has no token of yours for this project.".to_owned(),
        next_step: services.asks_for(),
    })?;
    if token.expires_at <= now {
        return Err(Failed {
            at: Hop::Portico,
            answer: "Your Keystone token has ended.".to_owned(),
            next_step: "Sign in again, then test once more.".to_owned(),
        });
    }
    services
        .clusters
        .fresh_api(cluster, token)
        .map_err(|error| Failed::of(&error, true, None))
}

/// Returns the user as the API server identifies them; computed if it cannot be asked.
async fn who(
    services: &Services,
    caller: &Caller,
    record: &ClusterRecord,
    api: &Api,
) -> TestedUser {
    let names = services.names(caller);
    match whoami::whoami(api).await {
        Ok(Some(info)) => TestedUser {
            user: user::kubernetes_user(&names, info),
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

/// Returns whether kube-auth got no response from Keystone since then; `None` if its metrics cannot
/// be read.
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

/// The components that the request passes, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hop {
    Portico,
    ApiServer,
    KubeAuth,
    Keystone,
    Authorization,
}

impl Hop {
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
            Self::KubeAuth => "opened the token and returned your identity",
            Self::Keystone => "confirmed the token, now or a few seconds ago",
            Self::Authorization => "decided",
        }
    }
}

fn passed(test: &mut SelfTest) {
    test.passed = true;
    test.stops = Hop::ALL
        .iter()
        .map(|stop| row(*stop, Health::Ok, stop.passed()))
        .collect();
}

fn row(stop: Hop, health: Health, text: &str) -> TestStop {
    TestStop {
        name: stop.name().to_owned(),
        health,
        text: text.to_owned(),
    }
}

/// Where the request ended, as far as can be observed from outside.
#[derive(Debug, PartialEq, Eq)]
struct Failed {
    at: Hop,
    answer: String,
    next_step: String,
}

impl Failed {
    fn of(error: &KubeError, accepted: bool, keystone_failed: Option<bool>) -> Self {
        let (at, next_step) = match error {
            KubeError::Unreachable(_) => (
                Hop::ApiServer,
                "The cluster's administrators can see whether it runs; `portico doctor` checks \
                 whether Portico's machine can reach it.",
            ),
            KubeError::Timeout(_) => (
                Hop::ApiServer,
                "Try again in a moment. If it continues, check the API server's load, and whether \
                 it reaches kube-auth, for which it waits.",
            ),
            KubeError::Unauthenticated if keystone_failed == Some(true) => (
                Hop::Keystone,
                "No user can be identified until Keystone answers again; `portico doctor` shows \
                 what it tried.",
            ),
            KubeError::Unauthenticated if !accepted => (
                Hop::KubeAuth,
                "Ask for the project or the role to be accepted by this cluster.",
            ),
            KubeError::Unauthenticated => (
                Hop::KubeAuth,
                "kube-auth refused the token, or the API server could not ask it. kube-auth's \
                 log has one line for each refusal; the API server's log names the webhook.",
            ),
            KubeError::Unconfigured(_) | KubeError::NoToken => (
                Hop::Portico,
                "Its administrators find the cause in Portico's log and with `portico doctor`.",
            ),
            _ => (
                Hop::ApiServer,
                "Try again in a moment; if it continues, the cluster's administrators find the \
                 cause in the API server's log.",
            ),
        };
        let answer = match (error, at) {
            (KubeError::Unauthenticated, Hop::Keystone) => {
                "The API server answered 401: kube-auth could not ask Keystone about your token."
                    .to_owned()
            }
            (KubeError::Unauthenticated, _) if !accepted => {
                "The API server answered 401, as the allow-list requires: this cluster does not \
                 accept your token."
                    .to_owned()
            }
            (KubeError::Unauthenticated, _) => {
                "The API server answered 401: no authenticator confirmed your identity.".to_owned()
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
        test.stops = Hop::ALL
            .iter()
            .map(|stop| match stop.cmp(&self.at) {
                std::cmp::Ordering::Less => row(*stop, Health::Ok, before(*stop, self.at)),
                std::cmp::Ordering::Equal => row(*stop, Health::Failed, "the request failed here"),
                std::cmp::Ordering::Greater => row(*stop, Health::Unknown, after(*stop, self.at)),
            })
            .collect();
        test.answer = self.answer;
        test.next_step = Some(self.next_step);
    }
}

/// Returns what is known of a component after the one that failed.
fn after(stop: Hop, end: Hop) -> &'static str {
    match (stop, end) {
        // kube-auth checks the token first, and its roles when Keystone has returned them
        (Hop::Keystone, Hop::KubeAuth) => "may have been asked",
        _ => "not reached",
    }
}

/// Returns what a component did if a later one failed.
fn before(stop: Hop, end: Hop) -> &'static str {
    match (stop, end) {
        (Hop::ApiServer, _) => "answered 401",
        (Hop::KubeAuth, Hop::Keystone) => "could not identify the token's user",
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
                Hop::ApiServer,
            ),
            (KubeError::Timeout(4), true, None, Hop::ApiServer),
            (KubeError::Unauthenticated, true, None, Hop::KubeAuth),
            (KubeError::Unauthenticated, true, Some(false), Hop::KubeAuth),
            (KubeError::Unauthenticated, true, Some(true), Hop::Keystone),
            (KubeError::Unauthenticated, false, None, Hop::KubeAuth),
            (
                KubeError::Server {
                    status: 503,
                    message: "starting".to_owned(),
                },
                true,
                None,
                Hop::ApiServer,
            ),
            (
                KubeError::Unconfigured("no key".to_owned()),
                true,
                None,
                Hop::Portico,
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
