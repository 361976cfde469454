//! A certificate request that the user pastes, and the certificate that was signed for it.
use super::authority::details;
use crate::{
    api::lifecycle::sign_certificate,
    components::InlineError,
    error::UiError,
    pages::lifecycle::change::reason_field,
    routes::escaped,
    ui::{Banner, Button, Card, CopyButton, Icon, Tone, Why, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::CertificateView;
use uuid::Uuid;

const BUTTON: &str = "Sign request";

/// Returns the card with the form; with `refusal` the viewer may not have requests signed.
pub fn card(cluster: Uuid, name: String, refusal: Option<String>) -> AnyView {
    let content = match refusal {
        Some(reason) => view! {
            <p>{reason.clone()}</p>
            <div><Why id="sign-refusal" label=BUTTON reason action="sign-certificate" /></div>
        }
        .into_any(),
        None => view! { <Form cluster name /> }.into_any(),
    };
    view! {
        <div class="mt-4" data-part="signing">
            <Card title="Sign a certificate request">
                <div class="grid grid-cols-1 gap-3">
                    <p>
                        "The certificate is valid for years, with the subject of the request: one with the \
                         organisation system:masters has all rights in the cluster. Only a rotation of the \
                         authority revokes it."
                    </p>
                    {content}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

#[component]
fn Form(cluster: Uuid, name: String) -> impl IntoView {
    let request = RwSignal::new(String::new());
    let reason = RwSignal::new(String::new());
    let busy = RwSignal::new(false);
    let answer = RwSignal::new(None::<Result<CertificateView, UiError>>);
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        answer.set(None);
        let why = Some(reason.get_untracked());
        let asked = sign_certificate(cluster, request.get_untracked(), why);
        leptos::task::spawn_local(async move {
            let signed = asked.await;
            // the user may have left the page meanwhile
            let _ = busy.try_set(false);
            let _ = answer.try_set(Some(signed));
        });
    };
    view! {
        <form class="grid grid-cols-1 gap-3" on:submit=submit>
            <div class="field">
                <label for="certificate-request">"Certificate request"</label>
                <textarea
                    class="input mono h-auto py-2"
                    id="certificate-request"
                    rows="8"
                    required
                    spellcheck="false"
                    autocomplete="off"
                    aria-describedby="certificate-request-hint"
                    prop:value=move || request.get()
                    on:input=move |event| request.set(event_target_value(&event))
                ></textarea>
                <span class="field-hint" id="certificate-request-hint">
                    "In PEM, without the private key, which stays on your machine: openssl req -new -newkey \
                     rsa:4096 -nodes -keyout ops.key -out ops.csr -subj /CN=ops"
                </span>
            </div>
            {reason_field("signing-reason", reason)}
            <div><Button label=BUTTON icon=icons::KEY submit=true busy=busy /></div>
            <p class="visually-hidden" role="status">
                {move || busy.get().then_some("The request is being signed.")}
            </p>
        </form>
        {move || answer.get().map(|answer| match answer {
            Ok(certificate) => signed(certificate, &name),
            Err(error) => view! { <InlineError error /> }.into_any(),
        })}
    }
    .into_any()
}

/// Returns the certificate, to copy or to download.
fn signed(certificate: CertificateView, name: &str) -> AnyView {
    let pem = certificate.pem.clone();
    let href = format!("data:application/x-pem-file,{}", escaped(&pem));
    let file = format!("{name}.crt");
    view! {
        <div class="grid grid-cols-1 gap-3" data-part="signed">
            <Banner tone=Tone::Ok alert=true>
                "The request was signed. The certificate is not stored: copy or download it now."
            </Banner>
            <div class="flex flex-wrap items-center gap-2">
                <a class="btn" href=href download=file rel="external">
                    <Icon icon=icons::DOWNLOAD />
                    "Download certificate"
                </a>
                <CopyButton text=pem what="certificate" />
            </div>
            {details(certificate, "signed certificate")}
        </div>
    }
    .into_any()
}
