//! Limits on the text of a policy. Magnum's policy has 3 rules and about 100 keys and values.
use super::PolicyError;
use portico_runtime::yaml;

/// Maximum size of a policy, in bytes. A ConfigMap may hold less, see `access::pushed`.
pub const MAX_BYTES: usize = 1024 * 1024;
/// Maximum number of rules in a policy.
pub(super) const MAX_RULES: usize = 1_000;
/// Maximum nesting depth of lists and objects. The strict format needs 6 levels.
const MAX_DEPTH: usize = 16;
/// Maximum number of keys and values in a policy.
const MAX_NODES: usize = 20_000;
/// Maximum length of a problem's description, in characters: it may quote the policy.
const MAX_PROBLEM_CHARS: usize = 500;

/// The limits for policies and lists of expectations in YAML.
pub(super) const YAML: yaml::Limits = yaml::Limits {
    max_bytes: MAX_BYTES,
    max_depth: MAX_DEPTH,
    max_nodes: MAX_NODES,
};

/// Refuses a text of more than [`MAX_BYTES`].
pub(super) fn check_size(text: &str) -> Result<(), PolicyError> {
    if text.len() > MAX_BYTES {
        return Err(PolicyError::TooLarge {
            max_bytes: MAX_BYTES,
        });
    }
    Ok(())
}

/// Refuses JSON with too many values or too many levels, without deserialising it. A text that is
/// not JSON may pass: the deserialiser refuses it.
pub(super) fn check_json(text: &str) -> Result<(), PolicyError> {
    let (mut depth, mut nodes) = (0_usize, 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                nodes += 1;
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            // the value after a comma or a colon
            b',' | b':' => nodes += 1,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(PolicyError::TooDeep {
                max_depth: MAX_DEPTH,
            });
        }
        if nodes > MAX_NODES {
            return Err(PolicyError::TooManyNodes {
                max_nodes: MAX_NODES,
            });
        }
    }
    Ok(())
}

/// Refuses more than [`MAX_RULES`] rules.
pub(super) fn check_rules(rules: usize) -> Result<(), PolicyError> {
    if rules > MAX_RULES {
        return Err(PolicyError::TooManyRules {
            rules,
            max_rules: MAX_RULES,
        });
    }
    Ok(())
}

/// Returns the error with its text cut to a bounded length.
pub(super) fn shortened(error: PolicyError) -> PolicyError {
    let shorten = |text: String| match text.char_indices().nth(MAX_PROBLEM_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    match error {
        PolicyError::Syntax(text) => PolicyError::Syntax(shorten(text)),
        PolicyError::Rule { rule, problem } => PolicyError::Rule {
            rule,
            problem: shorten(problem),
        },
        other => other,
    }
}
