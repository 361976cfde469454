//! The grammar of `portico cluster ca`, `cert` and `credential`.
use crate::cluster::arguments::{DryRunArgs, SharedArgs, WaitArgs};
use clap::{Args, Subcommand, ValueEnum};
use portico_openstack::magnum::Authority;
use std::path::PathBuf;

/// Show or rotate the authorities of a cluster
#[derive(Debug, Subcommand)]
pub enum CaCommand {
    List(CaListArgs),
    Show(CaShowArgs),
    Rotate(RotateArgs),
}

/// Sign certificate requests
#[derive(Debug, Subcommand)]
pub enum CertCommand {
    Sign(SignArgs),
}

/// Rotate the credential with which a cluster uses the cloud
#[derive(Debug, Subcommand)]
pub enum CredentialCommand {
    #[command(name = "rotate")]
    Rotate(CredentialArgs),
}

/// An authority of a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum AuthorityName {
    #[default]
    Kubernetes,
    Etcd,
    FrontProxy,
}

impl From<AuthorityName> for Authority {
    fn from(name: AuthorityName) -> Self {
        match name {
            AuthorityName::Kubernetes => Self::Kubernetes,
            AuthorityName::Etcd => Self::Etcd,
            AuthorityName::FrontProxy => Self::FrontProxy,
        }
    }
}

/// List the authorities of a cluster, with the days that are left
///
/// By Magnum's policy only the user who created the cluster may read them. `-` is in place of what Magnum
/// does not give for this cluster.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster ca list shop")]
pub struct CaListArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Show subject, fingerprint and end of an authority's certificate
///
/// By Magnum's policy only the user who created the cluster may read it.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster ca show shop
  portico cluster ca show shop --authority etcd --pem > etcd-ca.crt")]
pub struct CaShowArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// Which authority
    #[arg(long, value_enum, default_value_t)]
    pub authority: AuthorityName,
    /// Print the certificate itself
    #[arg(long)]
    pub pem: bool,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Replace the authorities of a cluster
///
/// Every certificate and kubeconfig with one stops working at once. Refused for drivers that cannot do it:
/// with some of them the request would damage the cluster's record.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster ca rotate shop --wait")]
pub struct RotateArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    /// Do not ask for the name
    #[arg(long, short)]
    pub yes: bool,
    /// Why, for the journal of the cluster; needs the session of `portico login`
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub waiting: WaitArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Have a certificate request signed by a cluster's authority
///
/// The certificate is valid for five years, with the subject of the request, and cannot be revoked but by a
/// rotation of the authority. The private key stays where it is: only the request is sent.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  portico cluster cert sign shop --csr admin.csr > admin.crt")]
pub struct SignArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    /// The request (PEM)
    #[arg(long, value_name = "FILE")]
    pub csr: PathBuf,
    /// Which authority signs
    #[arg(long, value_enum, default_value_t)]
    pub authority: AuthorityName,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    /// Why, for the journal of the cluster; needs the session of `portico login`
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Give a cluster a new credential for the cloud
///
/// Where the driver supports it, you become the owner of the cluster: its certificates can then be read by you,
/// and by the owner before no longer. The command names that owner, and asks first; without a terminal, --yes
/// is needed.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  portico cluster credential rotate shop --dry-run
  portico cluster credential rotate shop --wait")]
pub struct CredentialArgs {
    /// Name or UUID of the cluster
    pub cluster: String,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Why, for the journal of the cluster; needs the session of `portico login`
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    #[command(flatten)]
    pub waiting: WaitArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

impl CaCommand {
    /// Returns what every verb takes.
    pub fn shared(&self) -> &SharedArgs {
        match self {
            Self::List(args) => &args.shared,
            Self::Show(args) => &args.shared,
            Self::Rotate(args) => &args.shared,
        }
    }
}
