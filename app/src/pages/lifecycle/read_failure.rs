//! The failure of a read that is repeated while its page is shown.
use crate::error::UiError;
use leptos::prelude::*;

/// Shows the failure of a read. One that is shown already is left alone: screen readers would announce it
/// with each read. The user may have left the page meanwhile.
pub fn show_once(shown: RwSignal<Option<UiError>>, failure: UiError) {
    let is_shown = shown.try_with_untracked(|shown| {
        shown
            .as_ref()
            .is_some_and(|shown| shown.message == failure.message)
    });
    if is_shown == Some(false) {
        let _ = shown.try_set(Some(failure));
    }
}
