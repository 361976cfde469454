//! What a user may do in a cluster, in plain words.
use super::error::ServiceError;
use crate::kube::{
    Api, namespaces,
    reviews::{self, Rule, Rules},
};
use futures::{StreamExt, stream};
use portico_domain::panel::{RightAnswer, RightQuestion, RightsSummary};

/// Maximum number of namespaces whose rules a summary reads.
const MAX_NAMESPACES: usize = 40;
const MAX_CONCURRENT_REVIEWS: usize = 8;

/// Answers a page's questions, in order.
pub async fn answer(
    api: &Api,
    questions: Vec<RightQuestion>,
) -> Result<Vec<RightAnswer>, ServiceError> {
    let results = reviews::review_all(api, questions.clone()).await;
    questions
        .into_iter()
        .zip(results)
        .map(|(question, result)| {
            let result = result?;
            Ok(RightAnswer {
                allowed: result.allowed,
                reason: if result.allowed {
                    String::new()
                } else {
                    refusal(&question)
                },
                question,
            })
        })
        .collect()
}

/// Returns "Your roles do not include delete on pods in shop."
pub fn refusal(question: &RightQuestion) -> String {
    format!("Your roles do not include {}.", question.in_words())
}

/// The abilities that users ask about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one line of the summary"
)]
struct Abilities {
    everything: bool,
    read: bool,
    change: bool,
    secrets: bool,
    exec: bool,
    grant: bool,
}

/// Returns a user's rights, with namespaces that have the same rights grouped.
pub async fn summaries(api: &Api) -> Result<Vec<RightsSummary>, ServiceError> {
    let everything = RightQuestion {
        verb: "*".to_owned(),
        group: "*".to_owned(),
        resource: "*".to_owned(),
        subresource: String::new(),
        namespace: None,
        name: None,
    };
    if reviews::allowed(api, &everything).await? {
        return Ok(vec![RightsSummary {
            namespaces: Vec::new(),
            summary: "Everything, in the whole cluster (administrator).".to_owned(),
            not: Vec::new(),
        }]);
    }
    let visible = namespaces::visible(api).await?;
    let (mut names, hidden) = (visible.names, !visible.all_known);
    if names.is_empty() {
        names.push("default".to_owned());
    }
    let left_out = names.len().saturating_sub(MAX_NAMESPACES);
    let answers: Vec<_> = stream::iter(names.into_iter().take(MAX_NAMESPACES))
        .map(|name| async move {
            let rules = reviews::rules(api, &name).await;
            rules.map(|rules| (name, abilities(&rules)))
        })
        .buffered(MAX_CONCURRENT_REVIEWS)
        .collect()
        .await;
    let mut groups: Vec<(Abilities, Vec<String>)> = Vec::new();
    for answer in answers {
        let (name, abilities) = answer?;
        match groups.iter_mut().find(|(known, _)| *known == abilities) {
            Some((_, names)) => names.push(name),
            None => groups.push((abilities, vec![name])),
        }
    }
    groups.sort_by_key(|(abilities, _)| std::cmp::Reverse(*abilities));
    let mut lines: Vec<_> = groups
        .into_iter()
        .map(|(abilities, namespaces)| line(abilities, namespaces))
        .collect();
    if hidden {
        lines.push(RightsSummary {
            namespaces: Vec::new(),
            summary: "You may not list the namespaces of this cluster; there may be others in \
                which you have rights. Open one by its name."
                .to_owned(),
            not: Vec::new(),
        });
    }
    if left_out > 0 {
        lines.push(RightsSummary {
            namespaces: Vec::new(),
            summary: format!("{left_out} more namespaces were not checked here."),
            not: Vec::new(),
        });
    }
    Ok(lines)
}

/// Returns "read and change in 4 namespaces": for a card.
pub fn in_short(summaries: &[RightsSummary]) -> Option<String> {
    if summaries
        .iter()
        .any(|line| line.summary.starts_with("Everything") && line.namespaces.is_empty())
    {
        return Some("everything".to_owned());
    }
    let parts: Vec<_> = summaries
        .iter()
        .filter(|line| !line.namespaces.is_empty() && line.summary != NO_RIGHTS)
        .map(|line| {
            let what = if line.summary.starts_with("Everything") {
                "everything"
            } else if line.summary.contains("change") {
                "read and change"
            } else {
                "read"
            };
            match line.namespaces.as_slice() {
                [one] => format!("{what} in {one}"),
                many => format!("{what} in {} namespaces", many.len()),
            }
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

const NO_RIGHTS: &str = "Nothing.";

fn line(abilities: Abilities, namespaces: Vec<String>) -> RightsSummary {
    if abilities.everything {
        return RightsSummary {
            namespaces,
            summary: "Everything.".to_owned(),
            not: Vec::new(),
        };
    }
    let mut can = Vec::new();
    match (abilities.read, abilities.change) {
        (true, true) => can.push("read and change workloads"),
        (true, false) => can.push("read workloads"),
        (false, true) => can.push("change workloads without reading them"),
        (false, false) => {}
    }
    let mut not = Vec::new();
    for (allowed, yes, no) in [
        (abilities.change, "", "change anything"),
        (abilities.secrets, "read secrets", "read secrets"),
        (abilities.exec, "open terminals", "open terminals"),
        (abilities.grant, "grant rights", "grant rights"),
    ] {
        if !allowed {
            not.push(no.to_owned());
        } else if !yes.is_empty() {
            can.push(yes);
        }
    }
    if can.is_empty() {
        return RightsSummary {
            namespaces,
            summary: NO_RIGHTS.to_owned(),
            not: Vec::new(),
        };
    }
    let mut summary = match can.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{}, and {last}.", rest.join(", ")),
        _ => format!("{}.", can.join("")),
    };
    if let Some(first) = summary.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    RightsSummary {
        namespaces,
        summary,
        not,
    }
}

fn abilities(rules: &Rules) -> Abilities {
    let may = |verb: &str, group: &str, resource: &str| {
        rules
            .rules
            .iter()
            .any(|rule| covers(rule, verb, group, resource))
    };
    Abilities {
        everything: rules.rules.iter().any(|rule| {
            let star = |list: &[String]| list.iter().any(|entry| entry == "*");
            star(&rule.verbs)
                && star(&rule.api_groups)
                && star(&rule.resources)
                && rule.resource_names.is_empty()
        }),
        read: may("list", "", "pods") || may("list", "apps", "deployments"),
        change: may("patch", "apps", "deployments") || may("delete", "", "pods"),
        secrets: may("get", "", "secrets"),
        exec: may("get", "", "pods/exec") || may("create", "", "pods/exec"),
        grant: may("create", "rbac.authorization.k8s.io", "rolebindings"),
    }
}

/// Returns whether a rule covers a verb on a resource (`pods/exec` with its subresource), for all
/// names.
pub fn covers(rule: &Rule, verb: &str, group: &str, resource: &str) -> bool {
    let one_of =
        |list: &[String], wanted: &str| list.iter().any(|entry| entry == "*" || entry == wanted);
    let by_subresource = resource.split_once('/').is_some_and(|(_, sub)| {
        rule.resources
            .iter()
            .any(|entry| *entry == format!("*/{sub}"))
    });
    rule.resource_names.is_empty()
        && one_of(&rule.verbs, verb)
        && one_of(&rule.api_groups, group)
        && (one_of(&rule.resources, resource) || by_subresource)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(list: &[(&[&str], &[&str], &[&str])]) -> Rules {
        let own = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Rules {
            incomplete: false,
            rules: list
                .iter()
                .map(|(verbs, groups, resources)| Rule {
                    verbs: own(verbs),
                    api_groups: own(groups),
                    resources: own(resources),
                    ..Rule::default()
                })
                .collect(),
        }
    }

    #[test]
    fn a_viewer_reads_and_the_rest_is_named() {
        let viewer = abilities(&rules(&[(&["get", "list"], &[""], &["pods", "pods/log"])]));
        let line = line(viewer, vec!["shop".to_owned()]);
        assert_eq!(line.summary, "Read workloads.");
        assert_eq!(
            line.not,
            [
                "change anything",
                "read secrets",
                "open terminals",
                "grant rights"
            ]
        );
        assert_eq!(in_short(&[line]).unwrap(), "read in shop");
    }

    #[test]
    fn stars_cover_everything_but_named_rules_do_not() {
        let admin = abilities(&rules(&[(&["*"], &["*"], &["*"])]));
        assert!(admin.everything && admin.exec && admin.grant);
        let mut named = rules(&[(&["get"], &[""], &["secrets"])]);
        named.rules[0].resource_names = vec!["one".to_owned()];
        assert!(!abilities(&named).secrets);
    }

    #[test]
    fn no_rights_are_shown_as_none() {
        let line = line(Abilities::default(), vec!["shop".to_owned()]);
        assert_eq!(line.summary, NO_RIGHTS);
        assert_eq!(in_short(&[line]), None);
    }
}
