//! The last step: what is created, all checks, and the form in its other notations.
use super::{formats, labels, outcome, quota, state::Wizard};
use crate::{
    components::InlineError,
    ui::{Banner, Button, Card, SkeletonLines, Status, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{
    Check, CheckLevel, CreationReview, FieldProblem, FormPage, PlanImpact, PlanLine,
};

pub fn page(wizard: Wizard) -> AnyView {
    let content = move || {
        let review = wizard.review.get();
        untrack(|| match review {
            Some(review) => reviewed(wizard, review),
            None => view! { <SkeletonLines lines=6 /> }.into_any(),
        })
    };
    let is_checking = move || wizard.is_outdated.get() && wizard.failure.with(Option::is_none);
    view! {
        <p class="text-muted" role="status">
            {move || is_checking().then_some("Checking the form…")}
        </p>
        {move || {
            let is_check = wizard.is_outdated.get() && !wizard.is_sent.get();
            wizard.failure.get().map(|error| view! {
                <div class="mb-3"><InlineError error /></div>
                {is_check.then(|| view! {
                    <p class="mb-3">
                        <Button label="Check again" on_click=move |_| wizard.check() />
                    </p>
                })}
            })
        }}
        {content}
        {outcome::of(wizard)}
    }
    .into_any()
}

/// Returns the parts of a review.
fn reviewed(wizard: Wizard, review: CreationReview) -> AnyView {
    // a form that was sent cannot be corrected, and is continued without its values
    let shown = if wizard.is_sent.get_untracked() {
        Vec::new()
    } else {
        review.problems.clone()
    };
    let problems = problems(wizard, shown);
    if review.template.is_none() {
        return problems;
    }
    let duration = review.usual_seconds.map(|seconds| {
        let text = format!(
            "This usually takes {} with this template.",
            in_words(seconds)
        );
        view! { <p>{text}</p> }
    });
    let plan = review.plan.iter().cloned().map(plan_line).collect_view();
    let notes = review
        .adjustments
        .iter()
        .chain(&review.notes)
        .map(|text| view! { <li>{text.clone()}</li> })
        .collect_view();
    let checks = review
        .checks
        .iter()
        .cloned()
        .map(|check| check_line(wizard, check))
        .collect_view();
    let labels = (!review.labels.is_empty()).then(|| {
        let table = labels::table(review.labels.clone());
        view! { <Card title="Labels" flush=true>{table}</Card> }
    });
    view! {
        <div class="form-groups">
            {problems}
            <div class="grid-halves">
                <Card title="What is created">
                    <ol class="notes">{plan}</ol>
                    <ul class="notes mt-3">{notes}</ul>
                    {duration}
                </Card>
                {quota::card(wizard)}
            </div>
            <Card title="Checks">
                <ul class="form-group" data-part="checks">{checks}</ul>
            </Card>
            {labels}
            {formats::of(wizard, review)}
        </div>
    }
    .into_any()
}

fn problems(wizard: Wizard, problems: Vec<FieldProblem>) -> AnyView {
    if problems.is_empty() {
        return ().into_any();
    }
    let problems = problems
        .into_iter()
        .map(|problem| {
            let page = problem.page();
            view! { <li>{problem.message}" "{go_to(wizard, page)}</li> }
        })
        .collect_view();
    view! {
        <Banner tone=Tone::Bad>
            <p class="font-semibold">"Correct this first:"</p>
            <ul class="notes">{problems}</ul>
        </Banner>
    }
    .into_any()
}

/// Returns the button that leads to a page; nothing for the page that is shown.
fn go_to(wizard: Wizard, page: FormPage) -> Option<AnyView> {
    (page != FormPage::Review).then(|| {
        let label = format!("Go to {}", page.title());
        view! { <Button label small=true on_click=move |_| wizard.go(page) /> }.into_any()
    })
}

fn plan_line(line: PlanLine) -> AnyView {
    let impact = match line.impact {
        PlanImpact::None => None,
        PlanImpact::Disruptive => Some((Tone::Warn, "Pods restart.")),
        PlanImpact::Destructive => Some((Tone::Bad, "Nodes are removed, with their data.")),
    };
    let impact = impact.map(|(tone, text)| view! { " " <Status tone text /> });
    let refusal = line
        .refusal
        .map(|text| view! { <p><Status tone=Tone::Bad text /></p> });
    view! { <li>{line.effect}{impact}{refusal}</li> }.into_any()
}

fn check_line(wizard: Wizard, check: Check) -> AnyView {
    let tone = match check.level {
        CheckLevel::Ok => Tone::Ok,
        CheckLevel::Warning => Tone::Warn,
        CheckLevel::Blocks => Tone::Bad,
    };
    let page = check
        .page
        .filter(|_| check.level != CheckLevel::Ok)
        .and_then(|page| go_to(wizard, page));
    view! {
        <li class="wrap-anywhere">
            <Status tone text=format!("{}: {}", check.subject, check.text) />
            {check.next_step.map(|step| view! { <p class="text-muted">{step}</p> })}
            {page}
        </li>
    }
    .into_any()
}

/// Returns a duration in words.
fn in_words(seconds: u64) -> String {
    let minutes = seconds.div_ceil(60) as usize;
    if seconds < 90 {
        crate::format::counted(seconds as usize, "second")
    } else {
        crate::format::counted(minutes, "minute")
    }
}

/// Returns why the form cannot be sent now, as a sentence.
pub fn obstacle(wizard: Wizard) -> Option<String> {
    let refusal = wizard
        .options
        .with_value(|options| options.creation.refusal.clone());
    if refusal.is_some() {
        return refusal;
    }
    if wizard.is_outdated.get() {
        return Some("The form is being checked.".to_owned());
    }
    wizard.review.with(|review| match review {
        None => Some("The form is being checked.".to_owned()),
        Some(review) if review.can_be_sent() => None,
        Some(review) if !review.problems.is_empty() => {
            Some("Correct what is named at the top first.".to_owned())
        }
        Some(review) => {
            let checks = review.checks.iter();
            let blocking = checks.filter(|check| check.level == CheckLevel::Blocks);
            let names: Vec<String> = blocking.map(|check| check.subject.clone()).collect();
            Some(if names.is_empty() {
                "A step of the plan cannot be carried out.".to_owned()
            } else {
                format!("Resolve this first: {}.", crate::format::listed(&names))
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn a_duration_is_in_whole_minutes() {
        assert_eq!(in_words(45), "45 seconds");
        assert_eq!(in_words(100), "2 minutes");
        assert_eq!(in_words(600), "10 minutes");
    }
}
