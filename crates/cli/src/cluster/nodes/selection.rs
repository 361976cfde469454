//! The nodes that a user names.
use crate::cluster::error::ClusterError;
use crate::cluster::exit_code;
use crate::cluster::part::Target;
use portico_cluster_operations::nodes::Node;
use portico_lifecycle::model::NodeGroup;
use portico_lifecycle::plan::ChosenNode;

/// Nodes of one group.
#[derive(Debug)]
pub struct Selection<'a> {
    pub group: &'a NodeGroup,
    pub nodes: Vec<ChosenNode>,
}

/// Returns the nodes with these names, IDs of servers or addresses; `group` is the name or UUID of the group
/// that the user gives.
///
/// # Errors
/// [`ClusterError::Blocked`] if a node is not found or ambiguous, has no server, or belongs to the control
/// plane or to no known group; [`ClusterError::Usage`] if the nodes belong to several groups.
pub fn select<'a>(
    target: &'a Target,
    found: &[Node],
    wanted: &[String],
    group: Option<&str>,
) -> Result<Selection<'a>, ClusterError> {
    let mut of_nodes = match group {
        Some(group) => Some(target.group(group)?),
        None => None,
    };
    let mut nodes: Vec<ChosenNode> = Vec::new();
    for word in wanted {
        let (name, chosen) = chosen(&target.cluster.name, found, word)?;
        let own = target.group(name)?;
        if own.is_control_plane() {
            return Err(ClusterError::Blocked {
                exit: exit_code::UNSUPPORTED,
                text: format!(
                    "{word} belongs to the control plane, of which Magnum does not remove chosen nodes; \
                     nothing was sent. Use `portico cluster resize -g {name}`"
                ),
            });
        }
        let expected = *of_nodes.get_or_insert(own);
        if expected.uuid != own.uuid {
            return Err(ClusterError::Usage(format!(
                "{word} is a node of {name}, not of {}: one command changes one node group",
                expected.name
            )));
        }
        if !nodes.contains(&chosen) {
            nodes.push(chosen);
        }
    }
    match of_nodes {
        Some(group) if !nodes.is_empty() => Ok(Selection { group, nodes }),
        _ => Err(ClusterError::Usage("no node was named".to_owned())),
    }
}

/// Returns the name of the group of a node, and the node.
fn chosen<'n>(
    cluster: &str,
    found: &'n [Node],
    word: &str,
) -> Result<(&'n str, ChosenNode), ClusterError> {
    let has_word = |node: &&Node| {
        let names = [node.name.as_deref(), node.server.as_deref()];
        names.contains(&Some(word)) || node.addresses.iter().any(|address| address == word)
    };
    let fitting: Vec<_> = found.iter().filter(has_word).collect();
    let refused = |exit, text| Err(ClusterError::Blocked { exit, text });
    let node = match fitting.as_slice() {
        [node] => *node,
        [] => {
            return refused(
                exit_code::NOT_FOUND,
                format!("{cluster} has no node {word}; see `portico cluster nodes list {cluster}`"),
            );
        }
        several => {
            let servers = several.iter().filter_map(|node| node.server.as_deref());
            let servers: Vec<_> = servers.collect();
            return refused(
                exit_code::CONFLICT,
                format!(
                    "several nodes of {cluster} have the name or address {word}; use the ID of a server\n  {}",
                    servers.join("\n  ")
                ),
            );
        }
    };
    let Some(server) = &node.server else {
        return refused(
            exit_code::NOT_FOUND,
            format!("Nova shows no server for {word}, so it cannot be chosen; nothing was sent"),
        );
    };
    let Some(group) = node.group.as_deref() else {
        return refused(
            exit_code::CONFLICT,
            format!(
                "the node group of {word} is not known, so it cannot be chosen; nothing was sent"
            ),
        );
    };
    let name = node.name.as_ref().filter(|name| !name.is_empty());
    let chosen = ChosenNode {
        server: server.clone(),
        name: name.unwrap_or(server).clone(),
    };
    Ok((group, chosen))
}
