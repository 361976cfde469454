//! "Test me": a real request, and how far it got.
use super::{attempt::Attempt, user};
use crate::{
    api::authentication::test_self,
    context::use_session,
    format, routes,
    ui::{Badge, Banner, Button, ButtonKind, Card, Status, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{SelfTest, TestStop, TestedUser};
use uuid::Uuid;

#[component]
pub fn SelfTestCard(cluster: Uuid, last: Option<SelfTest>) -> impl IntoView {
    let session = use_session();
    let attempt = Attempt::new(last);
    let submit = move |event: leptos::ev::SubmitEvent| {
        attempt.submit(&event, || test_self(cluster));
    };
    let project = session.project.get_untracked();
    let csrf_token = session.view.with_untracked(|view| view.csrf_token.clone());
    view! {
        <div id="self-test">
            <Card title="Test me">
                <form
                    method="post"
                    action=routes::form_action("authentication/test_self", &project)
                    on:submit=submit
                    class="grid grid-cols-1 gap-4"
                >
                    <input type="hidden" name="cluster" value=cluster.to_string() />
                    <input type="hidden" name="csrf_token" value=csrf_token />
                    <p>
                        "Sends a real request to the API server with a new cluster token of yours, \
                         which no cache can contain, and shows the result of each step."
                    </p>
                    <div>
                        <Button
                            label="Test me"
                            icon=icons::PLAY
                            kind=ButtonKind::Primary
                            submit=true
                            busy=attempt.busy
                        />
                    </div>
                </form>
                {attempt.outcome(spoken, shown)}
            </Card>
        </div>
    }
    .into_any()
}

/// Returns the outcome in a few words, for screen readers; users can read the rest in the page.
fn spoken(test: &SelfTest) -> Option<String> {
    let result = if test.passed {
        "The test has passed."
    } else {
        "The test has failed; the reason is below."
    };
    Some(result.to_owned())
}

fn shown(test: &SelfTest) -> AnyView {
    let (tone, result) = if test.passed {
        (Tone::Ok, "Passed")
    } else {
        (Tone::Bad, "Failed")
    };
    let took = test.milliseconds.map(|milliseconds| {
        format!(
            " The answer took {}.",
            format::latency(milliseconds.saturating_mul(1_000))
        )
    });
    let at = format::moment(test.at);
    let answer = test.answer.clone();
    let next_step = test.next_step.clone();
    let stops = test.stops.iter().map(stop).collect_view();
    view! {
        <div class="grid grid-cols-1 gap-4" data-test=if test.passed { "passed" } else { "failed" }>
            <Banner tone>
                <p class="font-semibold">
                    {format!("{result} at {at}")}
                </p>
                <p>{answer}{took}</p>
                {next_step.map(|step| view! { <p>{step}</p> })}
            </Banner>
            <ol class="stops" aria-label="Path of the request">{stops}</ol>
            {test.user.as_ref().map(who)}
        </div>
    }
    .into_any()
}

fn stop(stop: &TestStop) -> AnyView {
    view! {
        <li>
            <Status tone=Tone::from(stop.health) text=stop.name.clone() />
            <span class="text-muted">{stop.text.clone()}</span>
        </li>
    }
    .into_any()
}

fn who(tested: &TestedUser) -> AnyView {
    let source = if tested.computed {
        view! {
            <Badge icon=icons::INFO text="Computed" />
            <span class="text-muted">
                "This API server has no SelfSubjectReview (Kubernetes 1.26 and newer do), so it \
                 cannot report your identity. Its answer to your request is real."
            </span>
        }
        .into_any()
    } else {
        view! {
            <Badge icon=icons::CHECK text="Reported by the API server" />
            <span class="text-muted">"From a SelfSubjectReview with the same token."</span>
        }
        .into_any()
    };
    let user = if tested.computed {
        user::folded(&tested.user, "your request", "As computed")
    } else {
        user::view(&tested.user, "your request")
    };
    view! {
        <div class="grid grid-cols-1 gap-3">
            <h3>"Your identity at the API server"</h3>
            <p class="flex flex-wrap items-center gap-2">{source}</p>
            {user}
        </div>
    }
    .into_any()
}
