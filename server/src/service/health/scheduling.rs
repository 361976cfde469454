//! The scheduler's messages in plain words.

/// Simplifies messages such as `0/2 nodes are available: 2 Insufficient memory.`
pub fn simplify(message: &str) -> String {
    match causes(message) {
        Some(causes) => format!("No node can take it: {causes}."),
        None => super::sentence(message),
    }
}

/// Returns the causes alone: `all 2 nodes have too little free memory`. `None` for another message.
pub fn causes(message: &str) -> Option<String> {
    // newer schedulers add the result of preemption
    let message = message.split(" preemption:").next().unwrap_or(message);
    let (counts, causes) = message.split_once(" nodes are available: ")?;
    let total = counts.split('/').nth(1).unwrap_or_default();
    let causes: Vec<_> = clauses(causes.trim().trim_end_matches('.'))
        .into_iter()
        .map(|clause| cause(clause, total))
        .collect();
    Some(causes.join("; "))
}

/// Splits at commas before a count; other commas belong to a clause.
fn clauses(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(", ") {
        let rest = &text[at + 2..];
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            found.push(&text[start..at]);
            start = at + 2;
        }
    }
    found.push(&text[start..]);
    found
}

fn cause(clause: &str, total: &str) -> String {
    let (count, what) = clause
        .split_once(' ')
        .filter(|(count, _)| count.chars().all(|c| c.is_ascii_digit()))
        .unwrap_or(("", clause));
    if what.contains("unbound immediate PersistentVolumeClaims") {
        return "a PersistentVolumeClaim of the pod has no volume yet".to_owned();
    }
    let nodes = match (count, total) {
        ("", _) => String::new(),
        ("1", "1") => "the only node ".to_owned(),
        (count, total) if count == total => format!("all {total} nodes "),
        (count, total) => format!("{count} of {total} nodes "),
    };
    let singular = count == "1";
    let verb = |one: &'static str, many: &'static str| if singular { one } else { many };
    let words = if let Some(resource) = what.strip_prefix("Insufficient ") {
        let resource = match resource {
            "cpu" => "CPU",
            "ephemeral-storage" => "local storage",
            other => other,
        };
        format!("{} too little free {resource}", verb("has", "have"))
    } else if what.contains("taint") {
        let taint = what
            .split_once('{')
            .and_then(|(_, rest)| rest.split_once('}'))
            .map_or("", |(taint, _)| taint.trim());
        format!(
            "{} a taint that the pod does not tolerate ({taint})",
            verb("has", "have")
        )
    } else if what.contains("were unschedulable") {
        format!("{} cordoned", verb("is", "are"))
    } else if what.contains("node selector") || what.contains("node affinity") {
        format!(
            "{} not match the pod's node selector or affinity",
            verb("does", "do")
        )
    } else if what.contains("volume node affinity") {
        "cannot reach the pod's volume".to_owned()
    } else if what.contains("Too many pods") {
        format!("{} already full of pods", verb("is", "are"))
    } else if what.contains("free ports") {
        format!("{} the host port in use", verb("has", "have"))
    } else {
        format!("({what})")
    };
    format!("{nodes}{words}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_real_schedulers_become_sentences() {
        for (message, expected) in [
            (
                "0/2 nodes are available: 2 Insufficient memory.",
                "No node can take it: all 2 nodes have too little free memory.",
            ),
            (
                "0/3 nodes are available: 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate, 2 Insufficient cpu.",
                "No node can take it: 1 of 3 nodes has a taint that the pod does not tolerate (node-role.kubernetes.io/master:); 2 of 3 nodes have too little free CPU.",
            ),
            (
                "0/2 nodes are available: 2 pod has unbound immediate PersistentVolumeClaims.",
                "No node can take it: a PersistentVolumeClaim of the pod has no volume yet.",
            ),
            (
                "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
                "No node can take it: the only node has too little free CPU.",
            ),
            (
                "no nodes available to schedule pods",
                "no nodes available to schedule pods.",
            ),
        ] {
            assert_eq!(simplify(message), expected);
        }
    }
}
