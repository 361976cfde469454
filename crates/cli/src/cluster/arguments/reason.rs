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

#[cfg(test)]
mod tests {
    use crate::cluster::arguments::ClusterArgs;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        cluster: ClusterArgs,
    }

    #[test]
    fn every_change_of_a_cluster_takes_a_reason() {
        for words in [
            "create shop -t small",
            "apply -f shop.yaml",
            "delete shop",
            "resize shop 5",
            "upgrade shop --to v1.32 --approve",
            "nodegroup create shop gpu --flavor m1.large",
            "nodegroup update shop gpu --min 1",
            "nodegroup delete shop gpu",
            "nodes add shop -n 1",
            "nodes remove shop -n 1 -g gpu",
            "nodes replace shop node-1",
            "autoscale shop set --min 1",
            "ca rotate shop",
            "cert sign shop --csr a.csr",
            "credential rotate shop",
            "kubeconfig shop --certificate --out a",
            "import shop",
            "import --all",
        ] {
            let all = std::iter::once("portico").chain(words.split(' '));
            let all = all.chain(["--reason", "CHG-12"]);
            let program = Program::try_parse_from(all).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(program.cluster.command.reason(), Some("CHG-12"), "{words}");
        }
        for words in ["list", "show shop", "events shop", "nodes list shop"] {
            let all = std::iter::once("portico").chain(words.split(' '));
            let program = Program::try_parse_from(all).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(program.cluster.command.reason(), None, "{words}");
        }
    }
}
