//! `[keystone.service_account]`, with its secret from a file.
use anyhow::Context as _;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::{Client, ServiceAccount};
use portico_runtime::secret_file::read_secret_file;

/// Opens the account, if there is one; the file is read at each sign-in.
pub(super) fn open(
    config: &KeystoneConfig,
    client: Client,
) -> anyhow::Result<Option<ServiceAccount>> {
    ServiceAccount::new(config, client, |path| {
        read_secret_file(path).map_err(|error| error.to_string())
    })
    .context("keystone.service_account")
}
