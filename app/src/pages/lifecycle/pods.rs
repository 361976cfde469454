//! The approval of pods that would stay pending when nodes leave.
use leptos::prelude::*;

/// Returns the field with which the user accepts that these pods stay pending; nothing if there are none.
pub fn approval(pending: Vec<String>, accepted: RwSignal<Vec<String>>) -> Option<AnyView> {
    if pending.is_empty() {
        return None;
    }
    let items = pending.iter().cloned();
    let items = items.map(|pod| view! { <li><code>{pod}</code></li> });
    let items = items.collect_view();
    let (number, shown) = (pending.len(), pending.clone());
    let view = view! {
        <div class="field" data-part="pending-pods">
            <details>
                <summary>"Pods that may stay pending: " {number}</summary>
                <ul class="notes">{items}</ul>
            </details>
            <label class="check whitespace-normal">
                <input
                    type="checkbox"
                    prop:checked=move || accepted.with(|accepted| accepts(accepted, &shown))
                    on:change=move |event| {
                        let is_accepted = event_target_checked(&event);
                        accepted.set(if is_accepted { pending.clone() } else { Vec::new() });
                    }
                />
                "I accept that these pods stay pending"
            </label>
        </div>
    };
    Some(view.into_any())
}

/// Returns whether every pod that would stay pending is accepted.
pub fn accepts(accepted: &[String], pending: &[String]) -> bool {
    pending.iter().all(|pod| accepted.contains(pod))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_that_was_found_later_is_not_accepted() {
        let [web, db] = ["shop/web", "shop/db"].map(str::to_owned);
        let accepted = [web.clone()];
        assert!(accepts(&accepted, &[]));
        assert!(accepts(&accepted, &accepted));
        assert!(!accepts(&accepted, &[web, db]));
    }
}
