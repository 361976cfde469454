//! The authentication page: how a cluster identifies people, whom it accepts, and trying both.
mod accepted;
mod figures;
mod kept;
mod kubeconfig;
mod scrape;
mod self_test;
mod user;
mod user_test;

pub use figures::KubeAuthMetrics;
pub use kept::KeptTests;
pub use kubeconfig::kubeconfig;
pub use self_test::self_test;
pub use user_test::user_test;

use super::{Services, error::ServiceError, overview};
use crate::panel::caller::{self, Caller};
use portico_domain::{
    cluster::ClusterRecord,
    panel::{AuthenticationView, TerminalHelp},
};

/// The page, but for its live figures. Whoever may see the cluster may see it; what it says of
/// the cluster itself holds also while the API server does not answer.
pub async fn view(
    services: &Services,
    caller: &Caller,
    record: &ClusterRecord,
) -> Result<AuthenticationView, ServiceError> {
    let names = services.names(caller);
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
        user_test: overview::reading(user_test::form(services, caller, record).await),
        last_user_test: kept.other,
        docs_url: services.docs_url.as_ref().map(ToString::to_string),
        terminal: TerminalHelp {
            portico_url: caller::origin(&services.public_url),
            cluster_name: record.name.clone(),
        },
    })
}
