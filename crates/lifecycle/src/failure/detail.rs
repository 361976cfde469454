//! What can be read from the text of a failure beyond its class.

/// A quota that a text names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaDetail {
    /// The resource as the service writes it, such as `cores` or `network`.
    pub resource: Option<String>,
    /// Used and limit, such as (20, 20).
    pub used_of: Option<(u64, u64)>,
}

impl QuotaDetail {
    /// Returns a sentence such as "The quota of cores is used up (20 of 20)."
    pub fn sentence(&self) -> String {
        let resource = match &self.resource {
            Some(resource) => format!("The quota of {resource} is used up"),
            None => "A quota is used up".to_owned(),
        };
        match self.used_of {
            Some((used, limit)) => format!("{resource} ({used} of {limit})."),
            None => format!("{resource}."),
        }
    }
}

/// Reads resource and numbers from the text of Nova, Neutron, Cinder or Magnum.
pub fn quota(text: &str) -> QuotaDetail {
    let lower = text.to_lowercase();
    let clusters = lower
        .split_once("maximum clusters per project, ")
        .and_then(|(_, rest)| leading_number(rest));
    if let Some(limit) = clusters {
        return QuotaDetail {
            resource: Some("clusters".to_owned()),
            used_of: Some((limit, limit)),
        };
    }
    let resource = lower
        .split_once("quota exceeded for resources: ")
        .or_else(|| lower.split_once("quota exceeded for "))
        .map(|(_, rest)| {
            rest.trim_start_matches(['[', '\'', '"'])
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
                .collect::<String>()
                .replace('_', " ")
        })
        .filter(|resource| !resource.is_empty() && resource != "quota");
    QuotaDetail {
        resource,
        used_of: used_of(&lower),
    }
}

/// Finds `20 of 20`.
fn used_of(text: &str) -> Option<(u64, u64)> {
    text.match_indices(" of ").find_map(|(at, separator)| {
        let before = &text[..at];
        let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let used = before[before.len() - digits..].parse().ok()?;
        let limit = leading_number(&text[at + separator.len()..])?;
        Some((used, limit))
    })
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

/// Returns the last clause of a webhook's text: which value it refused, and why. Without it: the text.
pub fn admission(text: &str) -> &str {
    // the Rust client of magnum-cluster-api repeats everything in "(ErrorResponse {…})"
    let text = text.split(" (ErrorResponse").next().unwrap_or(text);
    let text = text.trim_end_matches(": Invalid").trim();
    let clause = ["is invalid: ", "denied the request: "]
        .iter()
        .find_map(|marker| text.split_once(marker).map(|(_, clause)| clause));
    clause.map_or(text, str::trim)
}
