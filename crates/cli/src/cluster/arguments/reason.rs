//! The reason of a change, for the journal of the cluster.
use super::ClusterCommand;
use crate::cluster::autoscale::AutoscaleCommand;
use crate::cluster::certificates::{CaCommand, CertCommand, CredentialCommand};
use crate::cluster::nodegroups::NodegroupCommand;
use crate::cluster::nodes::NodesCommand;

impl ClusterCommand {
    /// Returns the reason that the user stated; `None` for a command that changes nothing.
    pub fn reason(&self) -> Option<&str> {
        let reason = match self {
            Self::Create(args) => &args.reason,
            Self::Apply(args) => &args.reason,
            Self::Delete(args) => &args.reason,
            Self::Resize(args) => &args.change.reason,
            Self::Upgrade(args) => &args.change.reason,
            Self::Nodegroup(command) => match command {
                NodegroupCommand::Create(args) => &args.change.reason,
                NodegroupCommand::Update(args) => &args.change.reason,
                NodegroupCommand::Delete(args) => &args.change.reason,
                NodegroupCommand::List(_) | NodegroupCommand::Show(_) => return None,
            },
            Self::Nodes(command) => match command {
                NodesCommand::Add(args) => &args.change.reason,
                NodesCommand::Remove(args) => &args.change.reason,
                NodesCommand::Replace(args) => &args.change.reason,
                NodesCommand::List(_) => return None,
            },
            Self::Autoscale(args) => match &args.command {
                AutoscaleCommand::Set(args) => &args.change.reason,
                AutoscaleCommand::Status(_) => return None,
            },
            Self::Ca(CaCommand::Rotate(args)) => &args.reason,
            Self::Cert(CertCommand::Sign(args)) => &args.reason,
            Self::Credential(CredentialCommand::Rotate(args)) => &args.reason,
            Self::Kubeconfig(args) => &args.reason,
            Self::Import(args) => &args.reason,
            _ => return None,
        };
        reason.as_deref()
    }

    /// Returns whether the reason is also part of what the command writes without a gateway.
    pub fn keeps_reason(&self) -> bool {
        matches!(self, Self::Create(_))
    }
}
