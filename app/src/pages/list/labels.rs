//! The filter by labels, which suggests the keys and values that rows of the list have.
use super::{page::ListPage, toolbar::SelectorField};
use crate::{
    api::resources::label_suggestions,
    format,
    hooks::{LiveList, Timer},
    ui::{Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{LabelCount, label_selector};
use std::time::Duration;

const EXAMPLE: &str = "app=web,tier in (front,back)";
/// Maximum number of suggestions on screen.
const MAX_SUGGESTIONS: usize = 12;

#[component]
pub fn LabelFilter(
    page: ListPage,
    list: Option<LiveList>,
    error: RwSignal<Option<(&'static str, String)>>,
) -> impl IntoView {
    let field = SelectorField::new(
        page,
        |state| &mut state.labels,
        |text| {
            label_selector::check(text)
                .err()
                .map(|error| error.to_string())
        },
    );
    field.report(EXAMPLE, error);
    let found = RwSignal::new(Vec::<LabelCount>::new());
    let open = RwSignal::new(false);
    let current = RwSignal::new(None::<usize>);
    let turn = StoredValue::new(0_u32);
    let pending = Timer::new();
    let close = move || {
        open.set(false);
        current.set(None);
    };
    let suggest = move || {
        let (before, typed) = field.text.with_untracked(|text| completed(text));
        let (Some(typed), Some(list)) = (typed, list) else {
            found.set(Vec::new());
            return;
        };
        let Some(mut query) = list.query() else {
            return;
        };
        query.labels = Some(before)
            .filter(|before| label_selector::check(before).is_ok())
            .unwrap_or_default();
        let this = turn
            .try_update_value(|turn| {
                *turn += 1;
                *turn
            })
            .unwrap_or_default();
        leptos::task::spawn_local(async move {
            let answer = label_suggestions(page.cluster, query, typed).await;
            if turn.try_get_value() == Some(this) {
                // without suggestions a selector can still be typed
                let mut answer = answer.unwrap_or_default();
                answer.truncate(MAX_SUGGESTIONS);
                current.set(None);
                found.set(answer);
            }
        });
    };
    let ask = move || {
        open.set(true);
        pending.start(Duration::from_millis(80), suggest);
    };
    let choose = move |index: usize| {
        let Some(label) = found.with_untracked(|found| found.get(index).cloned()) else {
            return;
        };
        let (before, _) = field.text.with_untracked(|text| completed(text));
        let separator = if before.is_empty() { "" } else { "," };
        let value = label.value.as_deref().unwrap_or_default();
        field
            .text
            .set(format!("{before}{separator}{}={value}", label.key));
        if label.value.is_some() {
            close();
            field.run();
        } else {
            // the values of the key come next
            ask();
        }
    };
    let key = move |event: leptos::ev::KeyboardEvent| {
        let count = found.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" if !open.get_untracked() => ask(),
            "ArrowDown" if count > 0 => {
                current.update(|at| *at = Some(at.map_or(0, |at| (at + 1) % count)));
            }
            "ArrowUp" if count > 0 => {
                current
                    .update(|at| *at = Some(at.map_or(count - 1, |at| (at + count - 1) % count)));
            }
            "Enter" => match current.get_untracked() {
                Some(index) if open.get_untracked() => choose(index),
                _ => {
                    close();
                    field.run();
                }
            },
            "Escape" if open.get_untracked() => close(),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let is_shown = move || open.get() && found.with(|found| !found.is_empty());
    let options = move || {
        if !is_shown() {
            return ().into_any();
        }
        let options = found
            .get()
            .into_iter()
            .enumerate()
            .map(|(index, label)| {
                let text = match &label.value {
                    Some(value) => format!("{}={value}", label.key),
                    None => label.key.clone(),
                };
                let is_current = move || current.get() == Some(index);
                view! {
                    <li
                        id=format!("label-option-{index}")
                        role="option"
                        class="option"
                        aria-selected=move || if is_current() { "true" } else { "false" }
                        // before the field loses the focus
                        on:mousedown=move |event| {
                            event.prevent_default();
                            choose(index);
                        }
                    >
                        <span class="mono">{text}</span>
                        <span class="option-count">{format::count(label.count)}</span>
                    </li>
                }
            })
            .collect_view();
        view! {
            <ul id="label-options" role="listbox" aria-label="Labels of this list" class="suggestions">
                {options}
            </ul>
        }
        .into_any()
    };
    view! {
        <div class="search list-selector">
            <Icon icon=icons::TAG />
            <input
                class="input"
                id="filter-labels"
                name="labels"
                type="search"
                role="combobox"
                placeholder="Labels"
                title="A label selector: app=web,tier!=db"
                aria-label="Labels"
                aria-autocomplete="list"
                aria-controls="label-options"
                aria-expanded=move || if is_shown() { "true" } else { "false" }
                aria-activedescendant=move || {
                    current.get().map(|index| format!("label-option-{index}"))
                }
                autocomplete="off"
                spellcheck="false"
                aria-invalid=move || field.error.with(Option::is_some).then_some("true")
                aria-describedby=move || field.error.with(Option::is_some).then_some("filter-error")
                value=field.text.get_untracked()
                prop:value=move || field.text.get()
                on:input=move |event| {
                    field.typed(event_target_value(&event));
                    ask();
                }
                on:focus=move |_| ask()
                on:blur=move |_| close()
                on:keydown=key
            />
            {options}
        </div>
    }
    .into_any()
}

/// Splits a selector into the requirements that are complete and the beginning of the last one;
/// `None` for one that has no completion, such as a set of values.
fn completed(text: &str) -> (String, Option<String>) {
    let mut depth = 0_usize;
    let mut last = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => last = at + 1,
            _ => {}
        }
    }
    let (before, typed) = text.split_at(last);
    let before = before.trim_end_matches(',').trim().to_owned();
    let typed = typed.trim();
    let has_completion = typed
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_./=".contains(c));
    (before, has_completion.then(|| typed.replace("==", "=")))
}

#[cfg(test)]
mod tests {
    use super::completed;

    #[test]
    fn the_last_requirement_is_the_one_to_complete() {
        let split = |text| {
            let (before, typed) = completed(text);
            (before, typed.unwrap_or_else(|| "-".to_owned()))
        };
        let expected = |before: &str, typed: &str| (before.to_owned(), typed.to_owned());
        assert_eq!(split(""), expected("", ""));
        assert_eq!(split("ap"), expected("", "ap"));
        assert_eq!(split("app=web,ti"), expected("app=web", "ti"));
        assert_eq!(
            split("app in (a,b),tier=f"),
            expected("app in (a,b)", "tier=f")
        );
        assert_eq!(split("app in (a,"), expected("", "-"));
        assert_eq!(split("a=b,!c"), expected("a=b", "-"));
    }
}
