//! Ten minutes before a session expires a dialog offers to continue it, and the page stays. The forms
//! are loaded while the session is valid; what is shown after its end is here.
use crate::{
    context::use_session,
    pages::{Reauthenticate, lazy},
    routes,
    ui::{Button, Dialog, suspended},
};
use leptos::prelude::*;
use leptos_router::hooks::use_location;

/// The dialog opens this long before the end.
const FIRST_WARNING_SECONDS: i64 = 600;
/// A dismissed dialog opens again this long before the end.
const LAST_WARNING_SECONDS: i64 = 120;

#[component]
pub fn ReauthDialog() -> impl IntoView {
    let session = use_session();
    let open = RwSignal::new(false);
    let warned = RwSignal::new(i64::MAX);
    let left = move || {
        session
            .view
            .with(|view| view.session_expires_at)
            .saturating_sub(session.now.get())
    };
    let ended = Memo::new(move |_| session.signed_out.get() || left() <= 0);
    Effect::new(move |_| {
        let left = left();
        let step = if left <= LAST_WARNING_SECONDS {
            LAST_WARNING_SECONDS
        } else {
            FIRST_WARNING_SECONDS
        };
        if left > FIRST_WARNING_SECONDS {
            warned.set(i64::MAX);
        } else if warned.get_untracked() > step {
            warned.set(step);
            open.set(true);
        }
    });
    Effect::new(move |_| {
        if ended.get() {
            open.set(true);
        }
    });
    let form = Reauthenticate {
        open,
        left: Signal::derive(left),
    };
    let title = Signal::derive(move || {
        if ended.get() {
            "Your session has ended"
        } else {
            "Stay signed in"
        }
        .to_owned()
    });
    view! {
        <Dialog open id="reauthenticate-title" title>
            // not before it opens: a page does not wait for the form
            <Show when=move || open.get()>
                {move || {
                    if ended.get() {
                        view! { <Ended open /> }.into_any()
                    } else {
                        view! {
                            <Suspense fallback=loading>
                                {move || suspended(lazy::reauthenticate(form))}
                            </Suspense>
                        }
                        .into_any()
                    }
                }}
            </Show>
        </Dialog>
    }
    .into_any()
}

#[component]
fn Ended(open: RwSignal<bool>) -> impl IntoView {
    let location = use_location();
    let session = use_session();
    let here = move || routes::with_search(&location.pathname.get(), &location.search.get());
    view! {
        <div class="dialog-body">
            <p>
                {move || match session.end.get() {
                    "" => "Sign in again to continue.",
                    why => why,
                }}
                " You then return to this page."
            </p>
        </div>
        <div class="dialog-foot">
            <Button label="Stay on this page" on_click=move |_| open.set(false) />
            <a
                class="btn btn-primary"
                rel="external"
                href=move || routes::sign_in(&here())
            >
                "Sign in again"
            </a>
        </div>
    }
    .into_any()
}

fn loading() -> AnyView {
    view! { <div class="dialog-body">"Loading…"</div> }.into_any()
}
