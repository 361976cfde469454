//! A failure as a card: what, why, whose responsibility, what still runs, and what to do.
use crate::{
    routes::managed_clusters::{ManagedClustersPage, edit_and_retry},
    ui::{Card, CopyButton, DescriptionList, Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{FailureAction, FailureCard, Operation};
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
    let (links, others): (Vec<_>, Vec<_>) = failure
        .next_steps
        .into_iter()
        .map(|step| {
            let href = address(step.action, operation, cluster, project);
            (step.label, href)
        })
        .partition(|(_, href)| href.is_some());
    let steps = links
        .into_iter()
        .enumerate()
        .map(|(index, (label, href))| next_step(label, href, index == 0))
        .collect_view();
    let others = others
        .into_iter()
        .map(|(label, _)| view! { <li>{label}</li> })
        .collect::<Vec<_>>();
    let others = (!others.is_empty()).then(|| {
        view! { <ul class="notes" aria-label="Other steps">{others}</ul> }
    });
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
                    {others}
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

fn next_step(label: String, href: Option<String>, is_first: bool) -> AnyView {
    let class = if is_first { "btn btn-primary" } else { "btn" };
    view! { <li><a class=class href=href>{label}</a></li> }.into_any()
}

/// Returns the address of the page on which a step is carried out; `None` for one outside of these pages.
fn address(
    action: FailureAction,
    operation: &Operation,
    cluster: Uuid,
    project: &str,
) -> Option<String> {
    let page = match action {
        FailureAction::EditAndRetry => return Some(edit_and_retry(project, cluster)),
        FailureAction::NewCluster => ManagedClustersPage::Create,
        FailureAction::Retry if *operation == Operation::Deletion => {
            ManagedClustersPage::Delete(cluster)
        }
        FailureAction::ShowLeftovers | FailureAction::ShowHolders => {
            ManagedClustersPage::Leftovers(cluster)
        }
        FailureAction::FreeResources | FailureAction::ChooseByUuid => ManagedClustersPage::List,
        FailureAction::Settle => ManagedClustersPage::Settle(cluster),
        FailureAction::TakeOwnership => ManagedClustersPage::Ownership(cluster),
        FailureAction::Retry
        | FailureAction::Wait
        | FailureAction::ShowQuota
        | FailureAction::AskForRole
        | FailureAction::RelaxDisruptionBudget
        | FailureAction::ContactOperator => return None,
    };
    Some(page.address(project))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_deletion_is_tried_again_on_its_own_page() {
        let id = Uuid::from_u128(7);
        assert_eq!(
            address(FailureAction::Retry, &Operation::Deletion, id, "p1"),
            Some(ManagedClustersPage::Delete(id).address("p1"))
        );
        let of_creation = address(FailureAction::Retry, &Operation::Creation, id, "p1");
        assert_eq!(of_creation, None);
    }

    #[test]
    fn a_failed_change_is_settled_and_a_lost_owner_replaced_on_pages_of_their_own() {
        let id = Uuid::from_u128(7);
        for (action, page) in [
            (FailureAction::Settle, ManagedClustersPage::Settle(id)),
            (
                FailureAction::TakeOwnership,
                ManagedClustersPage::Ownership(id),
            ),
        ] {
            let operation = Operation::Change("Resize".to_owned());
            let found = address(action, &operation, id, "p1");
            assert_eq!(found, Some(page.address("p1")));
        }
    }

    #[test]
    fn the_form_to_edit_and_retry_begins_with_the_values_of_the_cluster() {
        let id = Uuid::from_u128(7);
        let edit = address(FailureAction::EditAndRetry, &Operation::Creation, id, "p1");
        let href = format!("/projects/p1/managed-clusters/create?from={id}");
        assert_eq!(edit, Some(href));
        let empty = address(FailureAction::NewCluster, &Operation::Creation, id, "p1");
        assert_eq!(empty, Some(ManagedClustersPage::Create.address("p1")));
    }
}
