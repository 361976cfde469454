//! The running operation: how far it is, its steps, and what holds it up.
use super::watch::{Watch, state_words};
use crate::{
    components::Age,
    context::use_session,
    format,
    ui::{Banner, Card, Status, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    ClusterProgress, Operation, ProgressOutcome, ProgressStep, StepState,
};

/// Returns the card of the operation; nothing while none is followed.
pub fn card(watch: Watch) -> AnyView {
    let now = use_session().now;
    let operation = Memo::new(move |_| {
        watch
            .progress
            .with(|progress| (!progress.steps.is_empty()).then(|| title(&progress.operation)))
    });
    let steps = Memo::new(move |_| {
        watch
            .progress
            .with(|progress| (progress.steps.clone(), progress.position))
    });
    let place = Memo::new(move |_| watch.progress.with(place));
    let since = Memo::new(move |_| watch.progress.with(|progress| progress.since));
    let messages = Memo::new(move |_| watch.progress.with(messages));
    view! {
        {move || operation.get().map(|title| view! {
            <div class="mt-4" data-part="progress">
                <Card title>
                    <div class="grid grid-cols-1 gap-3">
                        <p class="text-muted">
                            {move || place.get()}
                            {move || since.get().map(|at| view! {
                                " · accepted " <Age at=Some(at) /> " ago"
                            })}
                        </p>
                        {move || messages.get().into_iter().map(|(tone, text)| view! {
                            <Banner tone>{text}</Banner>
                        }).collect_view()}
                        <ol class="rows" aria-label="Steps">
                            {move || {
                                let (steps, position) = steps.get();
                                steps
                                    .into_iter()
                                    .enumerate()
                                    .map(|(index, step)| row(step, index + 1 == position, now))
                                    .collect_view()
                            }}
                        </ol>
                    </div>
                </Card>
            </div>
        })}
    }
    .into_any()
}

fn title(operation: &Operation) -> String {
    match operation {
        Operation::Creation => "Creation".to_owned(),
        Operation::Deletion => "Deletion".to_owned(),
        Operation::Change(words) => format::capitalised(words),
        Operation::None => "Last operation".to_owned(),
    }
}

/// Returns `Step 4 of 7`, with the share that is done if it is known.
fn place(progress: &ClusterProgress) -> String {
    let total = progress.steps.len();
    let step = format!(
        "Step {} of {total}",
        progress.position.clamp(1, total.max(1))
    );
    match (&progress.outcome, progress.percent) {
        (ProgressOutcome::Succeeded, _) => "Complete".to_owned(),
        (ProgressOutcome::Disappeared, _) => "The cluster is deleted".to_owned(),
        (_, Some(percent)) => format!("{step} · {percent} %"),
        (_, None) => step,
    }
}

/// Returns what holds the operation up, as sentences.
fn messages(progress: &ClusterProgress) -> Vec<(Tone, String)> {
    let outcome = match &progress.outcome {
        ProgressOutcome::Blocked(text) | ProgressOutcome::Unconfirmed(text) => {
            Some((Tone::Warn, text.clone()))
        }
        ProgressOutcome::NotActedOn(text) => Some((Tone::Bad, text.clone())),
        ProgressOutcome::Running
        | ProgressOutcome::Succeeded
        | ProgressOutcome::Failed
        | ProgressOutcome::Disappeared => None,
    };
    let stalled = progress.stalled.clone().map(|text| (Tone::Warn, text));
    outcome.into_iter().chain(stalled).collect()
}

fn row(step: ProgressStep, is_current: bool, now: RwSignal<i64>) -> AnyView {
    let ProgressStep {
        title,
        state,
        reason,
        explanation,
        usual_seconds,
    } = step;
    view! {
        <li class="grid gap-1" aria-current=is_current.then_some("step")>
            <span class="flex flex-wrap items-center gap-2">
                <strong class="wrap-anywhere">{title}</strong>
                <Status tone=tone(state) text=state_words(state) />
                <span class="text-muted">{move || duration(state, usual_seconds, now.get())}</span>
            </span>
            {explanation.map(|text| view! { <span class="wrap-anywhere">{text}</span> })}
            {reason.map(|text| view! { <span class="text-muted wrap-anywhere">{text}</span> })}
        </li>
    }
    .into_any()
}

fn tone(state: StepState) -> Tone {
    match state {
        StepState::Pending => Tone::Idle,
        StepState::Running { .. } => Tone::Info,
        StepState::Blocked { .. } => Tone::Warn,
        StepState::Failed { .. } => Tone::Bad,
        StepState::Done { .. } => Tone::Ok,
    }
}

/// Returns how long a step takes or took, and how long it usually takes; empty if nothing is known.
fn duration(state: StepState, usual_seconds: Option<u64>, now: i64) -> String {
    let length = |seconds: u64| format::age(i64::try_from(seconds).unwrap_or(i64::MAX), 0);
    let elapsed = match state {
        StepState::Pending => None,
        StepState::Running { since } | StepState::Blocked { since } => {
            Some(format!("for {}", format::age(now, since)))
        }
        StepState::Failed { since } => Some(format!("{} ago", format::age(now, since))),
        StepState::Done { seconds } => Some(format!("in {}", length(seconds))),
    };
    let usual = usual_seconds.map(|seconds| format!("usually {}", length(seconds)));
    elapsed
        .into_iter()
        .chain(usual)
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_its_duration_beside_the_usual_one() {
        let cases = [
            (StepState::Pending, None, ""),
            (StepState::Pending, Some(30), "usually 30s"),
            (
                StepState::Running { since: 40 },
                Some(30),
                "for 60s, usually 30s",
            ),
            (StepState::Done { seconds: 180 }, None, "in 3m"),
            (StepState::Failed { since: 90 }, None, "10s ago"),
        ];
        for (state, usual, expected) in cases {
            assert_eq!(duration(state, usual, 100), expected);
        }
    }
}
