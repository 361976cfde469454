//! Whether the cluster can be used through Portico. When its API answers, the page enrols a cluster
//! that Portico made; another one is enrolled by a button.
use super::watch::Watch;
use crate::{
    api::lifecycle::enrol_cluster,
    components::InlineError,
    context::{Session, use_session},
    error::UiError,
    hooks::Timer,
    pages::{cluster::terminal_help, lifecycle::change::reason_field},
    routes::{self, managed_clusters::ManagedClustersPage},
    ui::{Banner, Button, Card, CodeBlock, Icon, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{EnrolmentOutcome, EnrolmentState, Operation};
use std::time::Duration;
use uuid::Uuid;

/// The enrolment that this page runs. `Copy`.
#[derive(Clone, Copy)]
struct Run {
    watch: Watch,
    session: Session,
    /// Whether this page has begun by itself; a failed run is repeated by the user only.
    has_begun: StoredValue<bool>,
    /// Why the user enrols the cluster; empty if the page has begun by itself.
    reason: RwSignal<String>,
    busy: RwSignal<bool>,
    outcome: RwSignal<Option<Result<EnrolmentOutcome, UiError>>>,
    timer: Timer,
}

impl Run {
    fn begin(self) {
        let before = self
            .has_begun
            .try_update_value(|begun| std::mem::replace(begun, true));
        if before == Some(false) {
            self.send();
        }
    }

    fn send(self) {
        if self.busy.try_get_untracked() != Some(false) {
            return;
        }
        self.busy.set(true);
        let asked = enrol_cluster(self.watch.cluster, Some(self.reason.get_untracked()));
        leptos::task::spawn_local(async move {
            let answer = asked.await;
            // the user may have left the page meanwhile
            let _ = self.busy.try_set(false);
            match &answer {
                Ok(
                    EnrolmentOutcome::Enrolled { .. }
                    | EnrolmentOutcome::WaitingForConfiguration(_),
                ) => {
                    self.session.refresh();
                    self.watch.ask();
                }
                Ok(EnrolmentOutcome::Later { seconds, .. }) => {
                    let wait = Duration::from_secs(u64::from((*seconds).max(1)));
                    self.timer.start(wait, move || self.send());
                }
                Ok(EnrolmentOutcome::Refused { .. }) | Err(_) => {}
            }
            let _ = self.outcome.try_set(Some(answer));
        });
    }
}

/// What the card shows.
#[derive(Clone, Debug, PartialEq)]
enum Shown {
    Usable,
    /// Usable, as far as it is known.
    NotChecked,
    WaitingForConfiguration,
    WaitingForApi,
    NotOffered(String),
    Offered,
    Running,
    Later(String),
    Refused {
        reason: String,
        next_step: Option<String>,
    },
    Failed(UiError),
}

/// Returns what to show: the state of the server, unless this page's own run knows more.
fn shown(
    state: EnrolmentState,
    own: Option<Result<EnrolmentOutcome, UiError>>,
    is_busy: bool,
) -> Shown {
    match (state, own) {
        (EnrolmentState::Enrolled, _) | (_, Some(Ok(EnrolmentOutcome::Enrolled { .. }))) => {
            Shown::Usable
        }
        (EnrolmentState::WaitingForConfiguration, _)
        | (_, Some(Ok(EnrolmentOutcome::WaitingForConfiguration(_)))) => {
            Shown::WaitingForConfiguration
        }
        (EnrolmentState::NotChecked, _) => Shown::NotChecked,
        (EnrolmentState::NotOffered(reason), _) => Shown::NotOffered(reason),
        (EnrolmentState::WaitingForApi, _) => Shown::WaitingForApi,
        (
            EnrolmentState::Ready | EnrolmentState::Offered | EnrolmentState::Running,
            Some(Ok(EnrolmentOutcome::Refused { reason, next_step })),
        ) => Shown::Refused { reason, next_step },
        (
            EnrolmentState::Ready | EnrolmentState::Offered | EnrolmentState::Running,
            Some(Err(error)),
        ) => Shown::Failed(error),
        (
            EnrolmentState::Ready | EnrolmentState::Offered,
            Some(Ok(EnrolmentOutcome::Later { reason, .. })),
        ) => Shown::Later(reason),
        (EnrolmentState::Offered, None) if !is_busy => Shown::Offered,
        (EnrolmentState::Ready | EnrolmentState::Offered | EnrolmentState::Running, _) => {
            Shown::Running
        }
    }
}

#[component]
pub fn EnrolmentCard(watch: Watch) -> impl IntoView {
    let run = Run {
        watch,
        session: use_session(),
        has_begun: StoredValue::new(false),
        reason: RwSignal::new(String::new()),
        busy: RwSignal::new(false),
        outcome: RwSignal::new(None),
        timer: Timer::new(),
    };
    let state = Memo::new(move |_| {
        watch
            .progress
            .with(|progress| progress.cluster.enrolment.clone())
    });
    Effect::new(move |_| {
        if state.get() == EnrolmentState::Ready {
            run.begin();
        }
    });
    let content = Memo::new(move |_| shown(state.get(), run.outcome.get(), run.busy.get()));
    let is_deletion = Memo::new(move |_| {
        watch
            .progress
            .with(|progress| progress.operation == Operation::Deletion)
    });
    let name = watch
        .progress
        .with_untracked(|progress| progress.cluster.name.clone());
    view! {
        {move || {
            let name = name.clone();
            (!is_deletion.get()).then(|| view! {
                <div class="mt-4" data-part="enrolment">
                    <Card title="Use the cluster">
                        {move || content_view(content.get(), run, &name)}
                    </Card>
                </div>
            })
        }}
    }
    .into_any()
}

fn content_view(content: Shown, run: Run, name: &str) -> AnyView {
    let project = run.session.project.get_untracked();
    let cluster = run.watch.cluster;
    match content {
        Shown::Usable => usable(
            "The cluster is enrolled and can be opened within a few seconds.",
            &project,
            cluster,
            name,
        ),
        Shown::NotChecked => usable(
            "The cluster is enrolled. Its API server has not answered yet, so it is not known whether \
             it accepts users of Portico.",
            &project,
            cluster,
            name,
        ),
        Shown::Offered => offered(run),
        Shown::WaitingForConfiguration => {
            let href = ManagedClustersPage::Configuration(cluster).address(&project);
            view! {
                <div class="grid grid-cols-1 gap-3" role="status">
                    <Banner tone=Tone::Warn>
                        <p class="font-semibold">"Waiting for the API server's configuration"</p>
                        <p>
                            "The cluster is enrolled. Its API server does not ask Portico for the \
                             users of tokens yet: configure it as the next page shows."
                        </p>
                    </Banner>
                    <p><a class="btn btn-primary" href=href>"Show the configuration"</a></p>
                </div>
            }
            .into_any()
        }
        Shown::WaitingForApi => {
            waiting("The cluster can be enrolled as soon as its API server answers.".to_owned())
        }
        Shown::NotOffered(reason) => view! { <p class="wrap-anywhere">{reason}</p> }.into_any(),
        Shown::Running => waiting("The cluster is being enrolled.".to_owned()),
        Shown::Later(reason) => waiting(format!("{reason} This page tries it again.")),
        Shown::Refused { reason, next_step } => view! {
            <div class="grid grid-cols-1 gap-3">
                <Banner tone=Tone::Bad alert=true>
                    <p class="font-semibold wrap-anywhere">{reason}</p>
                    {next_step.map(|step| view! { <p>{step}</p> })}
                </Banner>
                {try_again(run)}
            </div>
        }
        .into_any(),
        Shown::Failed(error) => view! {
            <div class="grid grid-cols-1 gap-3">
                <InlineError error />
                {try_again(run)}
            </div>
        }
        .into_any(),
    }
}

fn waiting(text: String) -> AnyView {
    view! {
        <p role="status">
            {text}
            <noscript>" This needs JavaScript."</noscript>
        </p>
    }
    .into_any()
}

/// Returns the button that enrols a cluster of another client.
fn offered(run: Run) -> AnyView {
    view! {
        <div class="grid grid-cols-1 gap-3">
            <p>
                "Enrolling binds the roles of Portico in the cluster with a certificate that Magnum \
                 signs for you, and stores the cluster's address and certificate authority, so that \
                 your project can use it here."
            </p>
            {reason_field("enrolment-reason", run.reason)}
            <div>
                <Button
                    label="Enrol cluster"
                    busy=run.busy
                    on_click=move |_| run.send()
                />
            </div>
        </div>
    }
    .into_any()
}

fn try_again(run: Run) -> AnyView {
    view! {
        <div>
            <Button
                label="Try again"
                icon=icons::REFRESH
                busy=run.busy
                on_click=move |_| run.send()
            />
        </div>
    }
    .into_any()
}

/// Returns the way into the cluster, in the browser and with kubectl.
fn usable(state: &'static str, project: &str, cluster: Uuid, name: &str) -> AnyView {
    // the address that the browser has; a page without scripts has no use for commands to copy
    let origin = RwSignal::new(None::<String>);
    Effect::new(move |_| origin.set(window().location().origin().ok()));
    let download = terminal_help::kubeconfig(project, cluster, "Download kubeconfig");
    let name = name.to_owned();
    let commands = move || {
        origin.get().map(|origin| {
            let steps = [
                (
                    "Sign in, once a day",
                    "sign-in command",
                    format!("portico login {origin}"),
                ),
                (
                    "Add the cluster to your kubeconfig",
                    "kubeconfig command",
                    format!("portico kubeconfig --cluster {cluster}"),
                ),
                (
                    "Use it",
                    "kubectl command",
                    format!("kubectl --context {name} get namespaces"),
                ),
            ]
            .map(|(step, what, text)| view! { <li><p>{step}</p><CodeBlock text what /></li> })
            .collect_view();
            view! { <ol class="steps">{steps}</ol> }
        })
    };
    view! {
        <div class="grid grid-cols-1 gap-4">
            <p role="status">{state}</p>
            <div class="flex flex-wrap items-center gap-2">
                <a class="btn btn-primary" href=routes::cluster(project, cluster)>
                    <Icon icon=icons::BOXES />
                    "Open cluster"
                </a>
                {download}
            </div>
            {commands}
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::UiErrorKind;

    fn refused() -> Option<Result<EnrolmentOutcome, UiError>> {
        Some(Ok(EnrolmentOutcome::Refused {
            reason: "No.".to_owned(),
            next_step: None,
        }))
    }

    #[test]
    fn an_enrolled_cluster_is_usable_whatever_the_run_of_this_page_found() {
        assert_eq!(
            shown(EnrolmentState::Enrolled, refused(), false),
            Shown::Usable
        );
        let cluster = Uuid::from_u128(7);
        let enrolled = Some(Ok(EnrolmentOutcome::Enrolled { cluster }));
        assert_eq!(shown(EnrolmentState::Ready, enrolled, false), Shown::Usable);
    }

    #[test]
    fn a_failed_run_is_shown_until_the_user_tries_again() {
        assert!(matches!(
            shown(EnrolmentState::Ready, refused(), false),
            Shown::Refused { .. }
        ));
        let error = UiError::new(UiErrorKind::Unavailable, "No answer.");
        assert_eq!(
            shown(EnrolmentState::Ready, Some(Err(error.clone())), false),
            Shown::Failed(error)
        );
        assert_eq!(shown(EnrolmentState::Ready, None, false), Shown::Running);
    }

    #[test]
    fn a_cluster_of_another_client_waits_for_the_user() {
        let offered = EnrolmentState::Offered;
        assert_eq!(shown(offered.clone(), None, false), Shown::Offered);
        assert_eq!(shown(offered.clone(), None, true), Shown::Running);
        assert!(matches!(
            shown(offered, refused(), false),
            Shown::Refused { .. }
        ));
    }

    #[test]
    fn the_reason_why_it_is_not_offered_comes_before_an_earlier_failure() {
        let state = EnrolmentState::NotOffered("Not here.".to_owned());
        assert_eq!(
            shown(state, refused(), false),
            Shown::NotOffered("Not here.".to_owned())
        );
    }
}
