//! The grammar of `portico cluster template`.
use crate::cluster::arguments::{DryRunArgs, SharedArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// The help of `--dry-run`: a request is shown.
const DRY_RUN: &str =
    "Check and show what would be sent; send nothing. Exit code 1: it would change something";

#[derive(Debug, Subcommand)]
pub enum TemplateCommand {
    /// List the templates that clusters can be created from
    #[command(visible_alias = "ls")]
    List(SharedArgs),
    /// Show a template with its labels, and the clusters of the project that use it
    Show(TemplateArgs),
    Create(Box<TemplateCreateArgs>),
    Update(TemplateUpdateArgs),
    /// Offer a template to every project, or with --undo to its own only (administrators of the cloud)
    Publish(TemplateFlagArgs),
    /// Hide a template, or show it again with --undo (administrators of the cloud)
    Hide(TemplateFlagArgs),
    /// Delete a template that no cluster uses
    Delete(TemplateDeleteArgs),
}

impl TemplateCommand {
    /// Returns what every verb takes.
    pub fn shared(&self) -> &SharedArgs {
        match self {
            Self::List(shared) => shared,
            Self::Show(args) => &args.shared,
            Self::Delete(args) => &args.shared,
            Self::Create(args) => &args.shared,
            Self::Update(args) => &args.shared,
            Self::Publish(args) | Self::Hide(args) => &args.shared,
        }
    }
}

#[derive(Args, Debug)]
pub struct TemplateArgs {
    /// Name or UUID
    pub template: String,
    #[command(flatten)]
    pub shared: SharedArgs,
}

#[derive(Args, Debug)]
#[command(mut_arg("dry_run", |dry_run| dry_run.help(DRY_RUN)))]
pub struct TemplateDeleteArgs {
    /// Name or UUID
    pub template: String,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

#[derive(Args, Debug)]
#[command(mut_arg("dry_run", |dry_run| dry_run.help(DRY_RUN)))]
pub struct TemplateFlagArgs {
    /// Name or UUID
    pub template: String,
    /// Undo it
    #[arg(long)]
    pub undo: bool,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Create a template, from another one or from a body of Magnum's API
///
/// A template in use cannot be changed: create a new one from it, and upgrade the clusters to it.
#[derive(Args, Debug)]
#[command(
    mut_arg("dry_run", |dry_run| dry_run.help(DRY_RUN)),
    after_help = "\
Examples:
  portico cluster template create k8s-1.33 --from k8s-1.32 --image ubuntu-kube-v1.33.1 --set kube_tag=v1.33.1
  portico cluster template create --json body.json"
)]
pub struct TemplateCreateArgs {
    /// The name of the new template
    #[arg(required_unless_present = "json", conflicts_with = "json")]
    pub name: Option<String>,
    /// The template to start from (name or UUID)
    #[arg(long, value_name = "TEMPLATE", required_unless_present = "json")]
    pub from: Option<String>,
    /// The image of the nodes
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// The flavor of the workers
    #[arg(long, value_name = "FLAVOR")]
    pub flavor: Option<String>,
    /// The flavor of the control plane
    #[arg(long, value_name = "FLAVOR")]
    pub master_flavor: Option<String>,
    /// The key pair for SSH to the nodes
    #[arg(long, value_name = "NAME")]
    pub keypair: Option<String>,
    /// A label, over those of the other template; may be repeated
    #[arg(long = "set", value_name = "LABEL=VALUE")]
    pub labels: Vec<String>,
    /// The body of Magnum's `POST /clustertemplates`; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "image", "flavor", "master_flavor", "keypair", "labels"])]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}

/// Change a template; Magnum refuses most changes while clusters use it
#[derive(Args, Debug)]
#[command(
    mut_arg("dry_run", |dry_run| dry_run.help(DRY_RUN)),
    after_help = "Example:\n  portico cluster template update k8s-1.32 --name k8s-1.32-old"
)]
pub struct TemplateUpdateArgs {
    /// Name or UUID
    pub template: String,
    /// Another name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Another image
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Another flavor of the workers
    #[arg(long, value_name = "FLAVOR")]
    pub flavor: Option<String>,
    /// Another flavor of the control plane
    #[arg(long, value_name = "FLAVOR")]
    pub master_flavor: Option<String>,
    /// Another key pair
    #[arg(long, value_name = "NAME")]
    pub keypair: Option<String>,
    #[command(flatten)]
    pub dry_run: DryRunArgs,
    #[command(flatten)]
    pub shared: SharedArgs,
}
