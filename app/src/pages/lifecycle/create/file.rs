//! A file, or the body of a request, that is read into the form.
use super::state::Wizard;
use crate::{
    api::lifecycle::read_cluster_file,
    components::{InlineError, use_toasts},
    error::{UiError, UiErrorKind},
    ui::{Banner, Button, CopyButton, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ClusterFile, FieldProblem};

/// A text of the file, to copy, change or replace. `text` is the file of the form, if there is one.
#[component]
pub fn FilePaste(wizard: Wizard, text: String) -> impl IntoView {
    let has_file = !text.is_empty();
    let text = RwSignal::new(text);
    let busy = RwSignal::new(false);
    let answer = RwSignal::new(None::<Result<ClusterFile, UiError>>);
    let toasts = use_toasts();
    let read = move |_| {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        wizard.reading_on.set(Some(wizard.page.get_untracked()));
        let asked = read_cluster_file(text.get_untracked());
        leptos::task::spawn_local(async move {
            let read = asked.await;
            // another step may be shown by now; the form takes the values unless the page was left
            let _ = busy.try_set(false);
            let _ = wizard.reading_on.try_set(None);
            let is_left = wizard.is_sent.try_get_untracked() != Some(false);
            if let Ok(ClusterFile {
                form: Some(form), ..
            }) = &read
                && !is_left
            {
                wizard.file_notices.set(notices(&read));
                wizard.replace((**form).clone());
                return;
            }
            // where it was read, there is nothing to show it any more
            if let Some(Some(read)) = answer.try_set(Some(read))
                && !is_left
            {
                let unread = || {
                    let message = "The text cannot be read. The form is unchanged.";
                    let error = UiError::new(UiErrorKind::Invalid, message);
                    error.next_step("Read it again to see what is wrong.")
                };
                toasts.failed(&read.err().unwrap_or_else(unread));
            }
        });
    };
    let is_locked = wizard.is_sent;
    view! {
        <div class="form-group">
            <div class="field">
                <label for="cluster-file">"File or request body"</label>
                <textarea
                    class="input mono h-auto py-2"
                    id="cluster-file"
                    rows=if has_file { "18" } else { "6" }
                    spellcheck="false"
                    autocomplete="off"
                    aria-describedby="cluster-file-hint cluster-file-problems"
                    prop:value=move || text.get()
                    on:input=move |event| text.set(event_target_value(&event))
                ></textarea>
                <span class="field-hint" id="cluster-file-hint">
                    "YAML or JSON of Portico's kind Cluster, or the JSON that Magnum accepts. It replaces what \
                     the form has."
                </span>
            </div>
            <div id="cluster-file-problems">
                {move || answer.get().map(|answer| match answer {
                    Ok(file) => problems(file.problems),
                    Err(error) => view! { <InlineError error /> }.into_any(),
                })}
            </div>
            <p class="flex items-center gap-2">
                {move || (!is_locked.get()).then(|| view! {
                    <Button label="Use this text in the form" small=true busy=busy on_click=read />
                })}
                {has_file.then(|| view! { <CopyButton text=text what="file" /> })}
            </p>
        </div>
    }
    .into_any()
}

fn notices(read: &Result<ClusterFile, UiError>) -> Vec<String> {
    read.as_ref()
        .map(|file| file.notices.clone())
        .unwrap_or_default()
}

fn problems(problems: Vec<FieldProblem>) -> AnyView {
    let problems = problems
        .into_iter()
        .map(|problem| {
            let field =
                (!problem.field.is_empty()).then(|| view! { <code>{problem.field}</code> ": " });
            view! { <li>{field}{problem.message}</li> }
        })
        .collect_view();
    view! {
        <Banner tone=Tone::Bad alert=true>
            <p class="font-semibold">"The text cannot be read. The form is unchanged."</p>
            <ul class="notes">{problems}</ul>
        </Banner>
    }
    .into_any()
}
