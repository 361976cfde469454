//! The flags that administrators of the cloud set: public and hidden.
use super::sending::Sending;
use crate::{
    api::cluster_templates::set_template_flag,
    ui::{Button, Card, Why},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{TemplateFlag, TemplateRefusals, TemplateRow};
use uuid::Uuid;

/// Returns the card with the flags of a template; `changed` runs after a change.
pub fn card(template: &TemplateRow, refusals: &TemplateRefusals, changed: Callback<()>) -> AnyView {
    let sending = Sending::new();
    let publish = Control {
        template: template.id,
        flag: TemplateFlag::Public,
        is_on: template.is_public,
        label: if template.is_public {
            "Make private"
        } else {
            "Publish"
        },
        refusal: refusals.publish.clone(),
    };
    let hide = Control {
        template: template.id,
        flag: TemplateFlag::Hidden,
        is_on: template.is_hidden,
        label: if template.is_hidden {
            "Show again"
        } else {
            "Hide"
        },
        refusal: refusals.hide.clone(),
    };
    view! {
        <div class="mt-4" data-part="flags">
            <Card title="Who may use it">
                <div class="grid grid-cols-1 gap-3">
                    <p class="text-muted">
                        "Every project may use a public template. A hidden one is offered to administrators of \
                         the cloud only; its clusters remain."
                    </p>
                    <div class="flex flex-wrap gap-2">
                        {publish.view(sending, changed)}
                        {hide.view(sending, changed)}
                    </div>
                    {sending.outcome()}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

/// The button of a flag.
struct Control {
    template: Uuid,
    flag: TemplateFlag,
    is_on: bool,
    label: &'static str,
    refusal: Option<String>,
}

impl Control {
    fn view(self, sending: Sending, changed: Callback<()>) -> AnyView {
        let Self {
            template,
            flag,
            is_on,
            label,
            refusal,
        } = self;
        let (id, action) = match flag {
            TemplateFlag::Public => ("publish-refusal", "publish-template"),
            TemplateFlag::Hidden => ("hide-refusal", "hide-template"),
        };
        if let Some(reason) = refusal {
            return view! { <Why id label reason action /> }.into_any();
        }
        let done = Callback::new(move |_: Uuid| changed.run(()));
        view! {
            <Button
                label
                busy=sending.is_busy
                on_click=move |_| sending.run(set_template_flag(template, flag, !is_on), done)
            />
        }
        .into_any()
    }
}
