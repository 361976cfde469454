//! Commands that forward a port of the user's machine to the object.
use crate::ui::{Card, CodeBlock};
use leptos::prelude::*;
use portico_domain::panel::{Kubectl, ObjectView};

pub fn view(object: &ObjectView) -> AnyView {
    if object.ports.is_empty() {
        return ().into_any();
    }
    let commands = object
        .ports
        .iter()
        .map(|&port| {
            let text = Kubectl::PortForward(port).line(&object.reference, &object.kind);
            view! { <CodeBlock text what=format!("port-forward command for port {port}") /> }
        })
        .collect_view();
    view! {
        <div class="mt-4">
            <Card title="Port forwarding">
                <p class="text-muted mb-3">
                    "Each command forwards a port of your machine to this object until you stop it."
                </p>
                <div class="grid gap-2">{commands}</div>
            </Card>
        </div>
    }
    .into_any()
}
