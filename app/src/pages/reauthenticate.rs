//! The forms of the dialog that continues a session: the password is requested again. A user who
//! signed in without a password is redirected through the same sign-in again, and back to the page.
use crate::{
    components::InlineError,
    context::{Session, use_session},
    error::{UiError, UiErrorKind},
    format, routes,
    ui::{Button, ButtonKind, Field},
};
use leptos::{prelude::*, task::spawn_local};
use leptos_router::hooks::use_location;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, RequestInit, Response};

/// What the dialog hands to its form.
#[derive(Clone, Copy)]
pub struct Reauthenticate {
    /// Whether the dialog is open.
    pub open: RwSignal<bool>,
    /// Seconds until the session ends.
    pub left: Signal<i64>,
}

/// The form for the way in which the user has signed in.
pub fn form(dialog: Reauthenticate) -> AnyView {
    let session = use_session();
    let Reauthenticate { open, left } = dialog;
    // Keystone's word; an OIDC provider's own words are marked as such
    let by_password = session
        .view
        .with_untracked(|view| view.auth_methods.iter().any(|method| method == "password"));
    if by_password {
        view! { <Again open session left /> }.into_any()
    } else {
        view! { <AnotherWay open left /> }.into_any()
    }
}

/// For sessions of single sign-on, of a provider, or of an application credential.
#[component]
fn AnotherWay(open: RwSignal<bool>, left: Signal<i64>) -> impl IntoView {
    let location = use_location();
    let here = move || {
        let (path, search) = (location.pathname.get(), location.search.get());
        routes::reauthenticate(&routes::with_search(&path, &search))
    };
    view! {
        <div class="dialog-body">
            <p>
                "Your sign-in ends in "
                {move || format::age(left.get().max(0), 0)}
                ". Confirm it the way you signed in; you then return to this page."
            </p>
        </div>
        <div class="dialog-foot">
            <Button label="Later" on_click=move |_| open.set(false) />
            <a class="btn btn-primary" rel="external" href=here>
                "Stay signed in"
            </a>
        </div>
    }
    .into_any()
}

#[component]
fn Again(open: RwSignal<bool>, session: Session, left: Signal<i64>) -> impl IntoView {
    let password = RwSignal::new(String::new());
    let passcode = RwSignal::new(String::new());
    let failure = RwSignal::new(None::<UiError>);
    let busy = RwSignal::new(false);
    let with_passcode = session
        .view
        .with_untracked(|view| view.auth_methods.iter().any(|method| method == "totp"));
    let user = session.view.with_untracked(|view| view.user_name.clone());
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        failure.set(None);
        spawn_local(async move {
            let outcome = reauthenticate(
                &password.get_untracked(),
                with_passcode.then(|| passcode.get_untracked()),
                &session.view.with_untracked(|view| view.csrf_token.clone()),
            )
            .await;
            busy.set(false);
            password.set(String::new());
            passcode.set(String::new());
            match outcome {
                Ok(()) => {
                    open.set(false);
                    session.refresh();
                }
                Err(error) => failure.set(Some(error)),
            }
        });
    };
    view! {
        <form on:submit=submit>
            <div class="dialog-body">
                <p>
                    "Your sign-in ends in "
                    {move || format::age(left.get().max(0), 0)}
                    ". Enter your password to continue; nothing on this page is lost."
                </p>
                <input type="hidden" autocomplete="username" value=user />
                <Field
                    id="reauthenticate-password"
                    label="Password"
                    kind="password"
                    autocomplete="current-password"
                    required=true
                    value=password
                />
                {with_passcode.then(|| view! {
                    <Field
                        id="reauthenticate-passcode"
                        label="One-time code"
                        autocomplete="one-time-code"
                        required=true
                        value=passcode
                    />
                })}
                {move || failure.get().map(|error| view! { <InlineError error /> })}
            </div>
            <div class="dialog-foot">
                <Button label="Later" on_click=move |_| open.set(false) />
                <Button label="Stay signed in" kind=ButtonKind::Primary submit=true busy />
            </div>
        </form>
    }
    .into_any()
}

/// Sends the request to the gateway. Its session and cookie stay the same; only the expiry changes.
async fn reauthenticate(
    password: &str,
    passcode: Option<String>,
    csrf_token: &str,
) -> Result<(), UiError> {
    let unreachable = || {
        UiError::new(UiErrorKind::Unavailable, "Portico could not be reached.")
            .next_step("Check your connection and try again.")
    };
    let body = match passcode {
        Some(passcode) => serde_json::json!({ "password": password, "passcode": passcode }),
        None => serde_json::json!({ "password": password }),
    };
    let response = post_json("/oauth2/reauthenticate", &body.to_string(), csrf_token)
        .await
        .map_err(|_| unreachable())?;
    if response.ok() {
        return Ok(());
    }
    let mut error = match response.status() {
        401 | 403 | 422 => {
            UiError::new(UiErrorKind::Invalid, "That password or code is not right.")
                .next_step("Try again. Only the account of this session can continue it.")
        }
        429 => UiError::new(UiErrorKind::Unavailable, "Too many tries.")
            .next_step("Wait a little, then try again."),
        _ => UiError::new(UiErrorKind::Unavailable, "Keystone did not respond.")
            .next_step("Your password was not checked. Try again in a few seconds."),
    };
    error.request_id = response.headers().get("x-request-id").ok().flatten();
    Err(error)
}

async fn post_json(path: &str, body: &str, csrf_token: &str) -> Result<Response, JsValue> {
    let headers = Headers::new()?;
    headers.set("Content-Type", "application/json")?;
    headers.set("X-CSRF-Token", csrf_token)?;
    let request = RequestInit::new();
    request.set_method("POST");
    request.set_headers(&headers);
    request.set_body(&JsValue::from_str(body));
    let response = JsFuture::from(window().fetch_with_str_and_init(path, &request)).await?;
    response.dyn_into()
}
