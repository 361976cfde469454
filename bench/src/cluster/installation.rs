//! Portico with the pages of Magnum's clusters, as `portico init` installs it.
use super::tenant::Tenant;
use crate::panel::portico::{Build, KnownCluster, Portico, Prepared, VIEWER_ROLE};
use anyhow::Result;
use portico_testkit::TestEnv;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use uuid::Uuid;

/// `portico init` wants a cluster. Nothing connects to this one: the port is that of RFC 863.
const UNUSED_API: &str = "https://127.0.0.1:9";

/// Starts Portico for the clusters of a project.
pub async fn start(env: &TestEnv, build: &Build<'_>, tenant: &Tenant) -> Result<Portico> {
    let mut params = CertificateParams::new(Vec::<String>::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
    let ca_pem = authority.pem();
    let unused = KnownCluster {
        name: "unused",
        id: Uuid::new_v4(),
        project: &tenant.project,
        api_url: UNUSED_API,
        ca_pem: &ca_pem,
    };
    let mut prepared = Prepared::new(env, build, &unused)?;
    prepared.add_settings(&settings(env, &prepared)?);
    prepared.start().await
}

/// Returns the sections that give the panel its pages of Magnum's clusters, with the drivers of the
/// stack (`scripts/services/portico/config.sh`).
fn settings(env: &TestEnv, prepared: &Prepared) -> Result<String> {
    Ok(format!(
        "\n[enrolment]\nsealing_key_file = \"{}\"\napi_networks = [\"127.0.0.1/32\"]\n\n\
         [enrolment.roles]\ndeveloper = \"{}\"\nviewer = \"{}\"\n\n\
         [magnum]\nrelease = 23\n\n[magnum.drivers]\nk8s_sim_full = \"complete\"\n",
        prepared.sealing_key().display(),
        env.get("ROLE_ID_K8S_DEVELOPER")?,
        env.get(VIEWER_ROLE)?,
    ))
}
