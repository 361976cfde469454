use crate::format;
use leptos::prelude::*;

/// Names in a sentence: `a, b and c`; of many the first, the others behind "and 4 more".
#[component]
pub fn NameList(
    names: Vec<String>,
    /// Names before the others are folded away.
    #[prop(default = 6)]
    shown: usize,
) -> impl IntoView {
    // one hidden name would take as much room as the words for it
    if names.len() <= shown + 1 {
        return format::some_of(&names, shown + 1).into_any();
    }
    let mut first = names;
    let rest = first.split_off(shown);
    view! {
        <span>{first.join(", ")}" "</span>
        <details class="more">
            <summary>{format!("and {} more", format::count(rest.len()))}</summary>
            <span>": "{rest.join(", ")}</span>
        </details>
    }
    .into_any()
}
