//! A change between the pages of one cluster, or those of templates, for users who do not see it. Their
//! addresses differ in the query only, which for [`PageChange`] is the same page.
use crate::{
    hooks::page_change::{PageChange, focus_heading},
    routes::managed_clusters::ManagedClustersPage,
};
use leptos::prelude::*;

/// The page that was shown last. `Copy`, found in the context.
#[derive(Clone, Copy)]
struct ViewChange(StoredValue<Option<ManagedClustersPage>>);

pub fn provide_view_change() {
    provide_context(ViewChange(StoredValue::new(None)));
}

/// Reports that the head of a page is shown: the title is announced and the heading focused, if another
/// page of the same path was shown before.
pub fn use_view_shown(page: ManagedClustersPage, title: String) {
    let (Some(last), Some(change)) = (use_context::<ViewChange>(), use_context::<PageChange>())
    else {
        return;
    };
    Effect::new(move |_| {
        let before = last.0.try_update_value(|shown| shown.replace(page));
        if before
            .flatten()
            .is_some_and(|before| is_beside(before, page))
        {
            change.announcement.set(title.clone());
            // once the head is in the page
            request_animation_frame(focus_heading);
        }
    });
}

/// Returns whether two different pages have the same path.
fn is_beside(one: ManagedClustersPage, other: ManagedClustersPage) -> bool {
    one != other && path(one).is_some() && path(one) == path(other)
}

/// A path with several pages, which differ in their queries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SharedPath {
    Cluster(uuid::Uuid),
    Templates,
}

fn path(page: ManagedClustersPage) -> Option<SharedPath> {
    match page {
        ManagedClustersPage::List | ManagedClustersPage::Create => None,
        ManagedClustersPage::Cluster(id)
        | ManagedClustersPage::Delete(id)
        | ManagedClustersPage::Leftovers(id)
        | ManagedClustersPage::Configuration(id)
        | ManagedClustersPage::Journal(id)
        | ManagedClustersPage::NodeGroups(id)
        | ManagedClustersPage::Nodes(id)
        | ManagedClustersPage::Upgrade(id)
        | ManagedClustersPage::Certificates(id)
        | ManagedClustersPage::Ownership(id)
        | ManagedClustersPage::Settle(id) => Some(SharedPath::Cluster(id)),
        ManagedClustersPage::Templates | ManagedClustersPage::Template(_) => {
            Some(SharedPath::Templates)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn only_other_pages_of_the_same_cluster_are_beside_each_other() {
        let [one, other] = [7, 8].map(Uuid::from_u128);
        let page = ManagedClustersPage::Cluster(one);
        assert!(is_beside(page, ManagedClustersPage::Delete(one)));
        assert!(!is_beside(page, page));
        assert!(!is_beside(page, ManagedClustersPage::Delete(other)));
        let template = ManagedClustersPage::Template(one);
        assert!(is_beside(ManagedClustersPage::Templates, template));
        assert!(!is_beside(page, template));
        assert!(!is_beside(
            ManagedClustersPage::List,
            ManagedClustersPage::Create
        ));
    }
}
