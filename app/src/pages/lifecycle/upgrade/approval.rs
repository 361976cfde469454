//! The typed name unless it is a patch release, and the button that upgrades the cluster.
use super::state::UpgradeForm;
use crate::{
    pages::lifecycle::change::{reason_field, typed_name},
    ui::{Icon, icons},
};
use leptos::prelude::*;

/// Returns the form that sends the upgrade; nothing if it is not offered to the viewer.
pub fn form(form: UpgradeForm, name: String, accepted: Callback<()>) -> AnyView {
    let has_review = Memo::new(move |_| {
        form.options.with(|options| {
            options
                .as_ref()
                .is_some_and(|options| options.upgrade.is_offered() && options.review.is_some())
        })
    });
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        form.send(accepted);
    };
    view! {
        {move || has_review.get().then(|| view! {
            <form
                class="grid grid-cols-1 gap-3 mt-4"
                data-part="confirmation"
                on:submit=submit
            >
                {confirmation(form, name.clone())}
                {reason_field("upgrade-reason", form.reason)}
                <div>
                    <button
                        type="submit"
                        class="btn btn-primary"
                        disabled=move || !form.can_be_sent()
                    >
                        <Icon icon=icons::ARROW_UP />
                        "Upgrade cluster"
                    </button>
                </div>
                <p class="visually-hidden" role="status">
                    {move || form.is_sending.get().then_some("The upgrade is being sent.")}
                </p>
            </form>
        })}
    }
    .into_any()
}

/// Returns the field for the name, or that a patch release needs none.
fn confirmation(form: UpgradeForm, name: String) -> AnyView {
    let needs_name = Memo::new(move |_| form.needs_name());
    view! {
        {move || match needs_name.get() {
            true => typed_name(name.clone(), form.typed),
            false => view! {
                <p>"This is a patch release: the name of the cluster is not needed."</p>
            }
            .into_any(),
        }}
    }
    .into_any()
}
