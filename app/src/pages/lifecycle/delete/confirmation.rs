//! Options, the typed name, and the button that deletes the cluster.
use super::deletion::Deletion;
use crate::{
    components::InlineError,
    error::UiError,
    pages::lifecycle::change::{reason_field, typed_name},
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Card, Icon, Tone, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{DeletionInventory, DeletionOutcome};

/// Returns the choices of what is deleted through Kubernetes first.
pub fn options(deletion: Deletion) -> AnyView {
    let refusal = Memo::new(move |_| {
        deletion.inventory.with(|inventory| {
            inventory
                .as_ref()
                .and_then(|inventory| inventory.options_refusal.clone())
        })
    });
    let partial = Memo::new(move |_| {
        deletion.inventory.with(|inventory| {
            let partial = inventory
                .as_ref()
                .map(|inventory| inventory.partial.clone());
            partial.unwrap_or_default()
        })
    });
    let services = checkbox(
        "Delete Services of the type LoadBalancer first, through Kubernetes.",
        refusal,
        move || deletion.options.with(|options| options.services_first),
        move |on| {
            deletion.choose(|options| {
                options.services_first = on;
                options.accepted_partial.clear();
            });
        },
    );
    let claims = checkbox(
        "Delete PersistentVolumeClaims first, through Kubernetes. Their data is lost.",
        refusal,
        move || deletion.options.with(|options| options.claims_first),
        move |on| {
            deletion.choose(|options| {
                options.claims_first = on;
                options.accepted_partial.clear();
            });
        },
    );
    view! {
        <div class="mt-4" data-part="options">
            <Card title="Options">
                <div class="grid gap-2">
                    {services}
                    {claims}
                    {move || partly_accepted(deletion, refusal, partial.get())}
                    {move || refusal.get().map(|reason| view! {
                        <p id="options-refusal" class="text-muted wrap-anywhere">{reason}</p>
                    })}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

/// Returns where the options do not reach, and the choice to delete the cluster nonetheless; nothing if they
/// reach everything.
fn partly_accepted(
    deletion: Deletion,
    refusal: Memo<Option<String>>,
    partial: Vec<String>,
) -> Option<AnyView> {
    if partial.is_empty() {
        return None;
    }
    let sentences = partial
        .into_iter()
        .map(|text| view! { <p class="wrap-anywhere">{text}</p> })
        .collect_view();
    let accepted = checkbox(
        "Delete the cluster although other namespaces may have more.",
        refusal,
        move || deletion.accepts_partial(),
        move |on| deletion.accept_partial(on),
    );
    let part = view! {
        <div data-part="partial">
            <Banner tone=Tone::Warn>{sentences}{accepted}</Banner>
        </div>
    };
    Some(part.into_any())
}

fn checkbox(
    label: &'static str,
    refusal: Memo<Option<String>>,
    is_checked: impl Fn() -> bool + Send + 'static,
    set: impl Fn(bool) + Send + 'static,
) -> AnyView {
    let is_refused = move || refusal.with(Option::is_some);
    view! {
        <label class="check whitespace-normal">
            <input
                type="checkbox"
                disabled=is_refused
                aria-describedby=move || is_refused().then_some("options-refusal")
                prop:checked=is_checked
                on:change=move |event| set(event_target_checked(&event))
            />
            {label}
        </label>
    }
    .into_any()
}

/// Returns the form that sends the deletion, or why the viewer may not send it.
pub fn form(deletion: Deletion, name: String, accepted: Callback<()>) -> AnyView {
    let refusal = Memo::new(move |_| {
        deletion.inventory.with(|inventory| {
            inventory
                .as_ref()
                .and_then(|inventory: &DeletionInventory| inventory.deletion.refusal.clone())
        })
    });
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        deletion.send(accepted);
    };
    view! {
        <form class="grid grid-cols-1 gap-3 mt-4" data-part="confirmation" on:submit=submit>
            {move || refusal.get().map(|reason| view! {
                <Banner tone=Tone::Warn>{reason}</Banner>
            })}
            {typed_name(name, deletion.typed)}
            {reason_field("deletion-reason", deletion.reason)}
            <div>
                <button
                    type="submit"
                    class="btn btn-danger"
                    disabled=move || !deletion.can_be_sent()
                >
                    <Icon icon=icons::TRASH />
                    "Delete cluster"
                </button>
            </div>
            <p class="visually-hidden" role="status">
                {move || deletion.is_sending.get().then_some("The deletion is being sent.")}
            </p>
        </form>
    }
    .into_any()
}

/// Returns what came of a request for the deletion.
pub fn outcome(
    answer: Result<DeletionOutcome, UiError>,
    deletion: Deletion,
    project: &str,
) -> AnyView {
    match answer {
        Err(error) => view! { <InlineError error /> }.into_any(),
        Ok(DeletionOutcome::Refused {
            reason,
            next_step,
            request_id,
        }) => {
            // the same banner as of an error, with its request ID
            let mut error = UiError::new(crate::error::UiErrorKind::Invalid, reason);
            error.next_step = next_step;
            error.request_id = request_id;
            view! { <InlineError error /> }.into_any()
        }
        Ok(DeletionOutcome::Unknown { reason, next_step }) => view! {
            <Banner tone=Tone::Warn alert=true>
                <p class="font-semibold">{reason}</p>
                <p>{next_step}</p>
            </Banner>
        }
        .into_any(),
        Ok(DeletionOutcome::AlreadyGone) => {
            let href = ManagedClustersPage::Leftovers(deletion.cluster).address(project);
            view! {
                <Banner tone=Tone::Ok alert=true>
                    <p class="font-semibold">"Magnum no longer has this cluster."</p>
                    <p><a href=href>"Show leftovers"</a></p>
                </Banner>
            }
            .into_any()
        }
        Ok(DeletionOutcome::Accepted(_)) => {
            view! { <Banner tone=Tone::Ok>"Magnum accepted the deletion."</Banner> }.into_any()
        }
    }
}
