//! The authentication page: how a cluster authenticates users, whom it accepts, and tests of both.
mod accepted;
mod figures;
mod kubeconfig;
mod recent_tests;
mod scrape;
mod self_test;
mod user;
mod user_test;

pub use figures::KubeAuthMetrics;
pub use kubeconfig::kubeconfig;
pub use recent_tests::RecentTests;
pub use self_test::self_test;
pub use user_test::user_test;

use super::{Services, error::ServiceError, overview};
use crate::{
    caller::{self, Caller},
    kube::ClusterSnapshot,
};
use portico_domain::{
    cluster::ClusterRecord,
    panel::{AuthenticationView, TerminalHelp},
};

/// Returns the page, without its live figures. Every user who may see the cluster may see it; its
/// data about the cluster itself is available even if the API server does not respond.
pub async fn view(
    services: &Services,
    clusters: &ClusterSnapshot,
    caller: &Caller,
    record: &ClusterRecord,
) -> Result<AuthenticationView, ServiceError> {
    let names = services.names(caller);
    let form = async {
        let (api, _) = services.api_among(clusters, caller, record.id).await?;
        user_test::form(services, caller, &api, record).await
    };
    let kept = services.tests.of(services, caller, record.id).await;
    Ok(AuthenticationView {
        own: user::computed(&names, names.identity, record),
        qualified_groups: record.qualified_groups_only(),
        raw_tokens: record.raw_keystone_tokens,
        authorization_policy: record.authorization_policy_file.is_some()
            || record.authorization_policy_config_map.is_some(),
        audiences: record.api_audiences.clone(),
        accepted: accepted::list(&names, record),
        own_token: accepted::own(&names, record, services),
        last_self_test: kept.own,
        user_test: overview::reading(form.await),
        last_user_test: kept.other,
        docs_url: services.docs_url.as_ref().map(ToString::to_string),
        terminal: TerminalHelp {
            portico_url: caller::origin(&services.public_url),
            cluster_name: record.name.clone(),
            system: caller.platform().system,
        },
    })
}
