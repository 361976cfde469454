//! The certificate of the authority: subject, fingerprint, validity, and who may read it.
use crate::{
    format,
    ui::{Banner, Card, CodeBlock, CopyButton, DescriptionList, Icon, Status, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{AuthorityReading, CertificateView, Expiry};

/// Returns the card of the authority of Kubernetes.
pub fn card(authority: AuthorityReading, is_own: bool, creator: String) -> AnyView {
    let content = match authority {
        AuthorityReading::Magnum(certificate) => details(*certificate, "authority"),
        AuthorityReading::Record {
            certificate,
            reason,
        } => view! {
            <Banner tone=Tone::Info>
                <p>{reason}</p>
                <p>"This is the authority in Portico's record of the cluster."</p>
            </Banner>
            {details(*certificate, "authority")}
        }
        .into_any(),
        AuthorityReading::Refused { reason, next_step } => view! {
            <Banner tone=Tone::Warn>
                <p>{reason}</p>
                {next_step.map(|step| view! { <p>{step}</p> })}
            </Banner>
        }
        .into_any(),
    };
    view! {
        <div class="mt-4" data-part="authority">
            <Card title="Certificate authority">
                <div class="grid grid-cols-1 gap-3">
                    {content}
                    {readers(is_own, creator)}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

/// Returns who may read the certificate.
fn readers(is_own: bool, creator: String) -> AnyView {
    if is_own {
        return view! {
            <p class="text-muted">
                "You created this cluster. Magnum gives this certificate, and signs requests, only for you and \
                 for administrators of the cloud."
            </p>
        }
        .into_any();
    }
    let creator = (!creator.is_empty()).then(|| {
        view! { " The ID of that user is " <code class="wrap-anywhere">{creator}</code> "." }
    });
    view! {
        <p class="text-muted">
            "Magnum gives this certificate, and signs requests, only for the user who created the cluster and for \
             administrators of the cloud."
            {creator}
        </p>
    }
    .into_any()
}

/// Returns the details of a certificate; `what` names it for the copy button.
pub fn details(certificate: CertificateView, what: &'static str) -> AnyView {
    let (tone, validity) = validity(certificate.expiry, certificate.days_left);
    let fingerprint = certificate.fingerprint.clone();
    let rows = [
        ("Subject", code(certificate.subject)),
        ("Issuer", code(certificate.issuer)),
        (
            "Valid from",
            format::moment(certificate.not_before).into_any(),
        ),
        (
            "Valid until",
            format::moment(certificate.not_after).into_any(),
        ),
        (
            "Validity",
            view! { <Status tone text=validity /> }.into_any(),
        ),
        (
            "Fingerprint (SHA-256)",
            view! {
                <span class="flex flex-wrap items-center gap-2">
                    <code class="wrap-anywhere">{certificate.fingerprint}</code>
                    <CopyButton text=fingerprint what="fingerprint" />
                </span>
            }
            .into_any(),
        ),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    view! {
        <DescriptionList rows />
        <details class="fold">
            <summary>
                <Icon icon=icons::CHEVRON_RIGHT />
                "Certificate in PEM"
            </summary>
            <CodeBlock text=certificate.pem what tall=true />
        </details>
    }
    .into_any()
}

fn code(text: String) -> AnyView {
    view! { <code class="wrap-anywhere">{text}</code> }.into_any()
}

/// Returns how long a certificate is still valid.
pub fn validity(expiry: Expiry, days: i64) -> (Tone, String) {
    let count = |days: i64| {
        let days = usize::try_from(days).unwrap_or_default();
        format::counted(days, "day")
    };
    match expiry {
        Expiry::Distant => (Tone::Ok, format!("{} left", count(days))),
        Expiry::Approaching => (
            Tone::Info,
            format!("{} left: plan its replacement", count(days)),
        ),
        Expiry::Soon => (Tone::Warn, format!("Expires soon: {} left", count(days))),
        Expiry::Imminent => (
            Tone::Bad,
            format!("Expires within a week: {} left", count(days)),
        ),
        Expiry::Expired => (Tone::Bad, format!("Expired {} ago", count(-days))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_soon_a_certificate_expires_is_a_colour_and_words() {
        for (days, tone, text) in [
            (1_824, Tone::Ok, "1,824 days left"),
            (60, Tone::Info, "60 days left: plan its replacement"),
            (20, Tone::Warn, "Expires soon: 20 days left"),
            (1, Tone::Bad, "Expires within a week: 1 day left"),
            (-3, Tone::Bad, "Expired 3 days ago"),
        ] {
            let found = validity(Expiry::of_days(days), days);
            assert_eq!(found, (tone, text.to_owned()));
        }
    }
}
