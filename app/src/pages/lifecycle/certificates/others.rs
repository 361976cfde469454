//! The authorities beside that of Kubernetes: how long they are valid.
use super::authority::validity;
use crate::{
    format,
    ui::{Card, Status, TableRegion, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{CertificateView, OtherAuthority, OtherAuthorityKind};

/// Returns the card of the other authorities; `None` without any.
pub fn card(others: Vec<OtherAuthority>) -> Option<AnyView> {
    if others.is_empty() {
        return None;
    }
    let rows = others.into_iter().map(row).collect_view();
    Some(
        view! {
            <div class="mt-4" data-part="other-authorities">
                <Card title="Other authorities" flush=true>
                    <TableRegion label="Other authorities">
                        <thead>
                            <tr>
                                <th scope="col">"Authority"</th>
                                <th scope="col">"Signs certificates for"</th>
                                <th scope="col">"Validity"</th>
                                <th scope="col">"Valid until"</th>
                                <th scope="col">"Fingerprint (SHA-256)"</th>
                            </tr>
                        </thead>
                        <tbody>{rows}</tbody>
                    </TableRegion>
                </Card>
            </div>
        }
        .into_any(),
    )
}

fn row(other: OtherAuthority) -> AnyView {
    let (name, purpose) = words(other.kind);
    let cells = match other.certificate {
        Some(certificate) => certificate_cells(*certificate),
        None => view! {
            <td colspan="3">
                <Status tone=Tone::Idle text="Not available" />
                <p class="text-muted">"Magnum does not return it for this cluster."</p>
            </td>
        }
        .into_any(),
    };
    view! {
        <tr>
            <th scope="row" class="cell-name">{name}</th>
            <td>{purpose}</td>
            {cells}
        </tr>
    }
    .into_any()
}

fn certificate_cells(certificate: CertificateView) -> AnyView {
    let (tone, text) = validity(certificate.expiry, certificate.days_left);
    view! {
        <td><Status tone text /></td>
        <td>{format::moment(certificate.not_after)}</td>
        <td><code class="inline-block min-w-60 wrap-anywhere">{certificate.fingerprint}</code></td>
    }
    .into_any()
}

/// Returns the name of an authority and what it is for.
fn words(kind: OtherAuthorityKind) -> (&'static str, &'static str) {
    match kind {
        OtherAuthorityKind::Etcd => ("etcd", "etcd and its clients"),
        OtherAuthorityKind::FrontProxy => (
            "Front proxy",
            "the API server's requests to API servers that extend it",
        ),
    }
}
