//! The steps of the form, of which one is shown.
use super::{
    access, problems, review, size,
    state::{STEP_HEADING, Wizard},
    template,
};
use crate::ui::{Badge, Banner, Button, ButtonKind, Tone, icons};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::FormPage;

#[component]
pub fn Steps(wizard: Wizard, is_restored: bool) -> impl IntoView {
    let is_restored = RwSignal::new(is_restored && !wizard.is_sent.get_untracked());
    let start_again = move |_| {
        is_restored.set(false);
        wizard.start_again();
    };
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        // Enter in a field never sends the form
        if let Some(next) = next_of(wizard.page.get_untracked()) {
            wizard.go(next);
        }
    };
    // what is on a step is made once, and not again with each change of the form
    let step = move || {
        wizard.replaced.track();
        let page = wizard.page.get();
        untrack(|| match page {
            FormPage::Template => template::page(wizard),
            FormPage::Size => size::page(wizard),
            FormPage::Access => access::page(wizard),
            FormPage::Review => review::page(wizard),
        })
    };
    let notices = move || {
        let notices = wizard.file_notices.get();
        (!notices.is_empty()).then(|| {
            let notices = notices.into_iter().map(|text| view! { <li>{text}</li> });
            view! {
                <Banner tone=Tone::Info>
                    <p class="font-semibold">"The form differs from the file:"</p>
                    <ul class="notes">{notices.collect_view()}</ul>
                </Banner>
            }
        })
    };
    let is_review = move || wizard.page.get() == FormPage::Review;
    view! {
        {move || is_restored.get().then(|| view! {
            <Banner tone=Tone::Info>
                <span class="flex flex-wrap items-center gap-3">
                    "The form has the values that were not sent before."
                    <Button label="Start again" small=true on_click=start_again />
                </span>
            </Banner>
        })}
        {notices}
        <section class="card" aria-labelledby=STEP_HEADING>
            <div class="card-body">
                <nav aria-label="Steps">
                    <ol class="tabs">
                        {FormPage::ALL.into_iter().map(|page| tab(wizard, page)).collect_view()}
                    </ol>
                </nav>
                <h2 id=STEP_HEADING tabindex="-1" class="mb-3">
                    {move || wizard.page.get().title()}
                </h2>
                <form novalidate=true on:submit=submit>
                    <fieldset
                        class="min-w-0 form-groups"
                        disabled=move || {
                            let reading_on = wizard.reading_on.get();
                            let is_read_elsewhere =
                                reading_on.is_some_and(|step| step != wizard.page.get());
                            is_read_elsewhere || (wizard.is_sent.get() && !is_review())
                        }
                    >
                        {step}
                    </fieldset>
                    <div class="editor-foot">
                        {move || previous_of(wizard.page.get()).map(|page| view! {
                            <Button label="Back" on_click=move |_| wizard.go(page) />
                        })}
                        {move || (!is_review()).then(|| view! {
                            <Button
                                label="Next"
                                kind=ButtonKind::Primary
                                icon=icons::CHEVRON_RIGHT
                                submit=true
                            />
                        })}
                    </div>
                </form>
            </div>
        </section>
    }
    .into_any()
}

/// Returns the button of a step, with the number of its problems.
fn tab(wizard: Wizard, page: FormPage) -> AnyView {
    let number = FormPage::ALL
        .iter()
        .take_while(|known| **known < page)
        .count()
        + 1;
    let count = Memo::new(move |_| {
        if !wizard.shows_problems(page) {
            return 0;
        }
        wizard.review.with(|review| {
            let problems = review.as_ref().map(|review| review.problems.as_slice());
            problems::count(problems.unwrap_or_default(), page)
        })
    });
    let mark = move || {
        let count = count.get();
        (count > 0).then(|| {
            let text = crate::format::counted(count, "problem");
            view! { <Badge tone=Tone::Bad text icon=icons::WARNING /> }
        })
    };
    view! {
        <li>
            <button
                type="button"
                class="tab"
                aria-current=move || (wizard.page.get() == page).then_some("step")
                on:click=move |_| wizard.go(page)
            >
                {format!("{number}. {}", page.title())}
                {mark}
            </button>
        </li>
    }
    .into_any()
}

fn next_of(page: FormPage) -> Option<FormPage> {
    FormPage::ALL.into_iter().find(|known| *known > page)
}

fn previous_of(page: FormPage) -> Option<FormPage> {
    FormPage::ALL.into_iter().rev().find(|known| *known < page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_follow_each_other_to_the_review() {
        assert_eq!(next_of(FormPage::Template), Some(FormPage::Size));
        assert_eq!(next_of(FormPage::Review), None);
        assert_eq!(previous_of(FormPage::Review), Some(FormPage::Access));
        assert_eq!(previous_of(FormPage::Template), None);
    }
}
