use crate::format;
use leptos::prelude::*;

/// Names in a sentence: `a, b and c`; of many the first, the others behind "and 4 more", which
/// expands. It holds a `details` element, which the HTML parser does not allow inside a `p`.
#[component]
pub fn NameList(
    names: Vec<String>,
    /// Number of names that are shown without expanding.
    #[prop(default = 6)]
    shown: usize,
) -> impl IntoView {
    // one hidden name would take as much space as the words for it
    if names.len() <= shown + 1 {
        return format::listed(&names).into_any();
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

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    fn html(count: usize) -> String {
        let names = (1..=count).map(|n| format!("n{n}")).collect();
        view! { <NameList names /> }.to_html()
    }

    #[test]
    fn finding_p20_every_name_behind_and_more_is_on_the_page() {
        let many = html(9);
        let (shown, folded) = many.split_once("</summary>").expect("a summary");
        assert!(shown.contains("and 3 more"), "{many}");
        for name in ["n7", "n8", "n9"] {
            assert!(folded.contains(name), "{name}: {many}");
        }
    }

    #[test]
    fn finding_p20_one_name_is_not_folded() {
        let seven = html(7);
        assert!(seven.contains("n6 and n7"), "{seven}");
        assert!(!seven.contains("more"), "{seven}");
    }
}
