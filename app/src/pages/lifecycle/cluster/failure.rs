//! A failure as a card: what, why, whose responsibility, what still runs, and what to do.
use crate::{
    routes::managed_clusters::ManagedClustersPage,
    ui::{Card, CopyButton, DescriptionList, Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{FailureAction, FailureCard, FailureStep, Operation};
use uuid::Uuid;

/// Returns the card of a failure or blockage of a cluster's operation.
pub fn card(failure: FailureCard, operation: &Operation, cluster: Uuid, project: &str) -> AnyView {
    let mut facts = vec![
        (
            "Responsibility".to_owned(),
            failure.responsibility.words().into_any(),
        ),
        ("Still running".to_owned(), failure.remains.into_any()),
    ];
    if let Some(id) = failure.request_id {
        facts.push(("Request ID".to_owned(), request_id(id)));
    }
    let steps = failure
        .next_steps
        .into_iter()
        .enumerate()
        .map(|(index, step)| next_step(step, index == 0, operation, cluster, project))
        .collect_view();
    let faults = failure
        .faults
        .into_iter()
        .map(|(group, text)| {
            view! { <li><strong>{group}</strong> ": " {text}</li> }
        })
        .collect::<Vec<_>>();
    let faults = (!faults.is_empty()).then(|| {
        view! { <ul class="notes" aria-label="Node groups">{faults}</ul> }
    });
    let raw = (!failure.raw.is_empty()).then(|| {
        view! {
            <details class="fold">
                <summary>
                    <Icon icon=icons::CHEVRON_RIGHT />
                    "Message of Magnum"
                </summary>
                <p class="mono wrap-anywhere">{failure.raw}</p>
            </details>
        }
    });
    view! {
        <div class="mt-4" data-part="failure">
            <Card title=failure.what>
                <div class="grid grid-cols-1 gap-3">
                    <p class="wrap-anywhere">{failure.why}</p>
                    {faults}
                    <DescriptionList rows=facts />
                    <ul class="flex flex-wrap items-center gap-2" aria-label="Next steps">
                        {steps}
                    </ul>
                    {raw}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

/// Returns a request ID to copy.
pub fn request_id(id: String) -> AnyView {
    view! {
        <span class="flex flex-wrap items-center gap-2">
            <code>{id.clone()}</code>
            <CopyButton text=id what="request ID" />
        </span>
    }
    .into_any()
}

fn next_step(
    step: FailureStep,
    is_first: bool,
    operation: &Operation,
    cluster: Uuid,
    project: &str,
) -> AnyView {
    let class = if is_first { "btn btn-primary" } else { "btn" };
    match page(step.action, operation, cluster) {
        Some(page) => view! {
            <li><a class=class href=page.address(project)>{step.label}</a></li>
        }
        .into_any(),
        None => view! { <li class="wrap-anywhere">{step.label}</li> }.into_any(),
    }
}

/// Returns the page on which a step is carried out; `None` for one outside of these pages.
fn page(
    action: FailureAction,
    operation: &Operation,
    cluster: Uuid,
) -> Option<ManagedClustersPage> {
    match action {
        FailureAction::EditAndRetry | FailureAction::NewCluster => {
            Some(ManagedClustersPage::Create)
        }
        FailureAction::Retry if *operation == Operation::Deletion => {
            Some(ManagedClustersPage::Delete(cluster))
        }
        FailureAction::ShowLeftovers | FailureAction::ShowHolders => {
            Some(ManagedClustersPage::Leftovers(cluster))
        }
        FailureAction::FreeResources | FailureAction::ChooseByUuid => {
            Some(ManagedClustersPage::List)
        }
        FailureAction::Retry
        | FailureAction::Wait
        | FailureAction::ShowQuota
        | FailureAction::Settle
        | FailureAction::TakeOwnership
        | FailureAction::AskForRole
        | FailureAction::RelaxDisruptionBudget
        | FailureAction::ContactOperator => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_deletion_is_tried_again_on_its_own_page() {
        let id = Uuid::from_u128(7);
        assert_eq!(
            page(FailureAction::Retry, &Operation::Deletion, id),
            Some(ManagedClustersPage::Delete(id))
        );
        assert_eq!(page(FailureAction::Retry, &Operation::Creation, id), None);
    }
}
