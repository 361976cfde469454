//! Which logs of a set of pods are followed.
use super::{since, stage::LogSource};
use portico_domain::{
    panel::{MAX_FOLLOWED_PODS, PodSummary},
    stream::LogQuery,
};
use std::collections::BTreeSet;

/// The lines of each log to start with.
const TAIL_LINES: u32 = 200;
/// Maximum number of logs that are followed at once: a tab may have only a few more subscriptions.
pub const MAX_LOGS: usize = 20;

/// A pod: its namespace and its name.
pub type PodKey = (String, String);

/// The lines that are read of each log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lines {
    /// Those of the run before.
    pub previous: bool,
    pub timestamps: bool,
    /// In seconds before now.
    pub since: Option<u32>,
    /// Unix seconds.
    pub until: Option<u32>,
}

/// The pods and containers whose logs are followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picked {
    /// Pods that the user has deselected.
    pub hidden: BTreeSet<PodKey>,
    /// Empty: every container.
    pub container: String,
    /// Whether the pods may be in several namespaces, which lines then name.
    pub with_namespaces: bool,
}

/// Returns the key of a pod.
pub fn key(pod: &PodSummary) -> PodKey {
    let namespace = pod.object.namespace.clone().unwrap_or_default();
    (namespace, pod.object.name.clone())
}

/// Returns the pods to choose from, by namespace and name, at most [`MAX_FOLLOWED_PODS`]. Those that were offered
/// `before` stay while they exist, and others take the free places in the given order: that of a workload's pods is
/// by their need of attention, which changes.
pub fn offered(pods: &[PodSummary], before: &[PodKey]) -> Vec<PodKey> {
    let mut offered: Vec<_> = pods.iter().map(key).collect();
    // stable: those that stay come first
    offered.sort_by_key(|pod| !before.contains(pod));
    offered.truncate(MAX_FOLLOWED_PODS);
    offered.sort();
    offered
}

impl Picked {
    /// Returns the name of a pod as it is shown.
    pub fn name(&self, (namespace, name): &PodKey) -> String {
        if self.with_namespaces {
            format!("{namespace}/{name}")
        } else {
            name.clone()
        }
    }

    /// Returns the logs of offered pods to follow, at most [`MAX_LOGS`], and the number of all. Those that were
    /// followed `before` stay while they are among all, and others take the free places in the given order.
    pub fn sources(
        &self,
        pods: &[PodSummary],
        offered: &[PodKey],
        lines: Lines,
        before: &[LogSource],
    ) -> (Vec<LogSource>, usize) {
        let is_shown = |pod: &PodKey| offered.contains(pod) && !self.hidden.contains(pod);
        let mut found: Vec<_> = pods
            .iter()
            .filter(|pod| is_shown(&key(pod)))
            .flat_map(|pod| self.of_pod(pod, lines))
            .collect();
        let all = found.len();
        let is_open = |source: &LogSource| before.iter().any(|before| before.query == source.query);
        // stable: those that stay come first
        found.sort_by_key(|source| !is_open(source));
        found.truncate(MAX_LOGS);
        found.sort_by(|one, other| {
            let key = |source: &LogSource| {
                let query = &source.query;
                (
                    query.namespace.clone(),
                    query.pod.clone(),
                    query.container.clone(),
                )
            };
            key(one).cmp(&key(other))
        });
        (found, all)
    }

    /// Returns why there are no logs to follow.
    pub fn why_no_logs(&self, has_pods: bool, lines: Lines) -> &'static str {
        if !has_pods {
            "There are no pods."
        } else if lines.previous {
            "No previous log is selected."
        } else if self.container.is_empty() {
            "No pod is selected."
        } else {
            "No pod with this container is selected."
        }
    }

    fn of_pod(&self, pod: &PodSummary, lines: Lines) -> Vec<LogSource> {
        let pod_key = key(pod);
        let name = self.name(&pod_key);
        let (namespace, pod_name) = pod_key;
        let several = self.container.is_empty() && pod.containers.len() > 1;
        let containers = if lines.previous {
            &pod.previous
        } else {
            &pod.containers
        };
        containers
            .iter()
            .filter(|container| self.container.is_empty() || **container == self.container)
            .map(|container| LogSource {
                prefix: if several {
                    format!("[{name}/{container}]")
                } else {
                    format!("[{name}]")
                },
                query: LogQuery {
                    namespace: namespace.clone(),
                    pod: pod_name.clone(),
                    container: container.clone(),
                    previous: lines.previous,
                    follow: !lines.previous,
                    timestamps: lines.timestamps,
                    tail: since::tail(lines.since, TAIL_LINES),
                    since: lines.since,
                    until: lines.until,
                },
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{Health, ObjectRef, ResourceRef};

    fn pod(name: &str, containers: &[&str]) -> PodSummary {
        PodSummary {
            object: ObjectRef {
                resource: ResourceRef::core("pods"),
                namespace: Some("shop".to_owned()),
                name: name.to_owned(),
            },
            health: Health::Ok,
            status: String::new(),
            ready: (1, 1),
            restarts: 0,
            node: None,
            created_at: None,
            containers: containers.iter().map(|&name| name.to_owned()).collect(),
            previous: Vec::new(),
        }
    }

    fn all_sources(picked: &Picked, pods: &[PodSummary], lines: Lines) -> (Vec<LogSource>, usize) {
        picked.sources(pods, &offered(pods, &[]), lines, &[])
    }

    fn prefixes(picked: &Picked, pods: &[PodSummary], lines: Lines) -> Vec<String> {
        let (sources, _) = all_sources(picked, pods, lines);
        sources.into_iter().map(|source| source.prefix).collect()
    }

    #[test]
    fn need_03_every_container_of_every_shown_pod_is_followed() {
        let pods = [pod("web-2", &["main", "proxy"]), pod("web-1", &["main"])];
        let prefixes = |hidden: &[&str], container: &str| {
            let hidden = hidden
                .iter()
                .map(|&name| ("shop".to_owned(), name.to_owned()));
            let picked = Picked {
                hidden: hidden.collect(),
                container: container.to_owned(),
                with_namespaces: false,
            };
            prefixes(&picked, &pods, Lines::default())
        };
        assert_eq!(
            prefixes(&[], ""),
            ["[web-1]", "[web-2/main]", "[web-2/proxy]"]
        );
        assert_eq!(prefixes(&[], "main"), ["[web-1]", "[web-2]"]);
        assert_eq!(prefixes(&["web-2"], ""), ["[web-1]"]);
    }

    #[test]
    fn pods_of_several_namespaces_are_distinguished() {
        let mut other = pod("web-1", &["main"]);
        other.object.namespace = Some("bank".to_owned());
        let pods = [pod("web-1", &["main", "proxy"]), other];
        let mut picked = Picked {
            with_namespaces: true,
            ..Picked::default()
        };
        assert_eq!(
            prefixes(&picked, &pods, Lines::default()),
            ["[bank/web-1]", "[shop/web-1/main]", "[shop/web-1/proxy]"]
        );
        picked
            .hidden
            .insert(("shop".to_owned(), "web-1".to_owned()));
        assert_eq!(prefixes(&picked, &pods, Lines::default()), ["[bank/web-1]"]);
        let names: Vec<_> = offered(&pods, &[])
            .iter()
            .map(|pod| picked.name(pod))
            .collect();
        assert_eq!(names, ["bank/web-1", "shop/web-1"]);
    }

    #[test]
    fn the_previous_run_is_that_of_the_containers_that_have_one() {
        let mut restarted = pod("web-1", &["main", "proxy"]);
        restarted.previous = vec!["proxy".to_owned()];
        let pods = [restarted, pod("web-2", &["main"])];
        let lines = Lines {
            previous: true,
            ..Lines::default()
        };
        let (sources, all) = all_sources(&Picked::default(), &pods, lines);
        assert_eq!((sources.len(), all), (1, 1));
        assert_eq!(sources[0].prefix, "[web-1/proxy]");
        assert!(sources[0].query.previous && !sources[0].query.follow);
    }

    #[test]
    fn the_reason_why_there_are_no_logs_is_what_is_chosen() {
        let why = |container: &str, has_pods, previous| {
            let picked = Picked {
                container: container.to_owned(),
                ..Picked::default()
            };
            let lines = Lines {
                previous,
                ..Lines::default()
            };
            picked.why_no_logs(has_pods, lines)
        };
        assert_eq!(why("", true, false), "No pod is selected.");
        assert_eq!(
            why("main", true, false),
            "No pod with this container is selected."
        );
        assert_eq!(why("", true, true), "No previous log is selected.");
        assert_eq!(why("", false, false), "There are no pods.");
    }

    #[test]
    fn the_number_of_logs_is_limited_and_that_of_all_is_known() {
        let pods: Vec<_> = (0..30)
            .map(|number| pod(&format!("web-{number:02}"), &["main", "proxy"]))
            .collect();
        let (sources, all) = all_sources(&Picked::default(), &pods, Lines::default());
        assert_eq!((sources.len(), all), (MAX_LOGS, 2 * MAX_FOLLOWED_PODS));
        assert_eq!(offered(&pods, &[]).len(), MAX_FOLLOWED_PODS);
    }

    #[test]
    fn offered_pods_stay_while_they_exist() {
        let pods: Vec<_> = (0..30)
            .map(|number| pod(&format!("web-{number:02}"), &["main"]))
            .collect();
        let first = offered(&pods, &[]);
        // the pods that need attention are others
        let mut changed: Vec<_> = pods.iter().rev().cloned().collect();
        assert_eq!(offered(&changed, &first), first);
        changed.retain(|pod| pod.object.name != "web-03");
        let next = offered(&changed, &first);
        let name = |name: &str| ("shop".to_owned(), name.to_owned());
        assert_eq!(next.len(), MAX_FOLLOWED_PODS);
        assert!(!next.contains(&name("web-03")) && next.contains(&name("web-29")));
    }

    #[test]
    fn open_logs_stay_while_their_pods_exist_and_are_selected() {
        let pods: Vec<_> = (0..15)
            .map(|number| pod(&format!("web-{number:02}"), &["main", "proxy"]))
            .collect();
        let offered = offered(&pods, &[]);
        let mut picked = Picked::default();
        let (first, _) = picked.sources(&pods, &offered, Lines::default(), &[]);
        // the pods that need attention are others
        let mut changed: Vec<_> = pods.iter().rev().cloned().collect();
        let (same, all) = picked.sources(&changed, &offered, Lines::default(), &first);
        assert_eq!((same, all), (first.clone(), 30));
        // one pod is gone, another deselected: the next ones take the four places in the given order
        changed.retain(|pod| pod.object.name != "web-03");
        picked
            .hidden
            .insert(("shop".to_owned(), "web-05".to_owned()));
        let (next, _) = picked.sources(&changed, &offered, Lines::default(), &first);
        let mut names: Vec<_> = next
            .iter()
            .map(|source| source.query.pod.as_str())
            .collect();
        names.dedup();
        let expected = [
            "web-00", "web-01", "web-02", "web-04", "web-06", "web-07", "web-08", "web-09",
            "web-13", "web-14",
        ];
        assert_eq!((names, next.len()), (expected.to_vec(), MAX_LOGS));
    }
}
