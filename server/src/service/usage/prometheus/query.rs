//! The queries: fixed templates, to which restrictions are added as matchers of every selector that
//! they parse into. No value of a user or a cluster becomes a part of a text that is parsed.
use promql_parser::{
    label::{MatchOp, Matcher},
    parser::{self, Expr, LabelModifier, VectorSelector},
};
use regex::Regex;

/// The label of nodes in the templates; that of the configuration replaces it.
const NODE_LABEL: &str = "node";

/// What a query computes. A kubelet has the usage of containers in `/metrics/resource` and in
/// `/metrics/cadvisor`; `max` counts it once where both are scraped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// CPU of each container, in cores.
    ContainerCpu,
    /// Working set of each container, in bytes.
    ContainerMemory,
    /// CPU of all containers together.
    PodsCpu,
    /// Working set of all containers together.
    PodsMemory,
    /// CPU of nodes together.
    NodesCpu,
    /// Working set of nodes together.
    NodesMemory,
    /// CPU of each pod.
    EachPodCpu,
    /// Working set of each pod.
    EachPodMemory,
    /// CPU of the pods of each namespace together.
    EachNamespaceCpu,
    /// Working set of the pods of each namespace together.
    EachNamespaceMemory,
    /// CPU of each node.
    EachNodeCpu,
    /// Working set of each node.
    EachNodeMemory,
}

impl Template {
    #[cfg(test)]
    const ALL: [Self; 12] = [
        Self::ContainerCpu,
        Self::ContainerMemory,
        Self::PodsCpu,
        Self::PodsMemory,
        Self::NodesCpu,
        Self::NodesMemory,
        Self::EachPodCpu,
        Self::EachPodMemory,
        Self::EachNamespaceCpu,
        Self::EachNamespaceMemory,
        Self::EachNodeCpu,
        Self::EachNodeMemory,
    ];

    fn text(self) -> &'static str {
        match self {
            Self::ContainerCpu => {
                r#"max by (pod, container) (rate(container_cpu_usage_seconds_total{container!="", container!="POD"}[5m]))"#
            }
            Self::ContainerMemory => {
                r#"max by (pod, container) (container_memory_working_set_bytes{container!="", container!="POD"})"#
            }
            Self::PodsCpu => {
                r#"sum(max by (pod, container) (rate(container_cpu_usage_seconds_total{container!="", container!="POD"}[5m])))"#
            }
            Self::PodsMemory => {
                r#"sum(max by (pod, container) (container_memory_working_set_bytes{container!="", container!="POD"}))"#
            }
            Self::NodesCpu => {
                r#"sum(max by (node) (rate(node_cpu_usage_seconds_total[5m])) or max by (node) (rate(container_cpu_usage_seconds_total{id="/"}[5m])))"#
            }
            Self::NodesMemory => {
                r#"sum(max by (node) (node_memory_working_set_bytes) or max by (node) (container_memory_working_set_bytes{id="/"}))"#
            }
            Self::EachPodCpu => {
                r#"sum by (namespace, pod) (max by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{container!="", container!="POD"}[5m])))"#
            }
            Self::EachPodMemory => {
                r#"sum by (namespace, pod) (max by (namespace, pod, container) (container_memory_working_set_bytes{container!="", container!="POD"}))"#
            }
            Self::EachNamespaceCpu => {
                r#"sum by (namespace) (max by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{container!="", container!="POD"}[5m])))"#
            }
            Self::EachNamespaceMemory => {
                r#"sum by (namespace) (max by (namespace, pod, container) (container_memory_working_set_bytes{container!="", container!="POD"}))"#
            }
            Self::EachNodeCpu => {
                r#"max by (node) (rate(node_cpu_usage_seconds_total[5m])) or max by (node) (rate(container_cpu_usage_seconds_total{id="/"}[5m]))"#
            }
            Self::EachNodeMemory => {
                r#"max by (node) (node_memory_working_set_bytes) or max by (node) (container_memory_working_set_bytes{id="/"})"#
            }
        }
    }
}

/// The reason why a query cannot be made. Each is a fault of this program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("the template cannot be parsed: {0}")]
    Template(String),
    /// A matcher after `or` restricts its own alternative only.
    #[error("a selector of the template has alternatives, which cannot be restricted")]
    Alternatives,
    #[error("the template has an expression that is not PromQL's own")]
    Extension,
    #[error("the names cannot be matched: {0}")]
    Names(String),
}

/// What a query is restricted to: matchers that all its selectors get.
#[derive(Clone, Debug, PartialEq)]
pub struct Restriction {
    matchers: Vec<Matcher>,
    node_label: String,
}

impl Restriction {
    /// Makes a restriction to one cluster, by the label that tells the clusters apart. `None`: there
    /// is one cluster only.
    pub fn new(cluster: Option<(&str, &str)>, node_label: &str) -> Self {
        let mut restriction = Self {
            matchers: Vec::new(),
            node_label: node_label.to_owned(),
        };
        if let Some((label, value)) = cluster {
            restriction.equal(label, value);
        }
        restriction
    }

    #[must_use]
    pub fn namespace(mut self, name: &str) -> Self {
        self.equal("namespace", name);
        self
    }

    #[must_use]
    pub fn node(mut self, name: &str) -> Self {
        let label = self.node_label.clone();
        self.equal(&label, name);
        self
    }

    /// Restricts to several namespaces.
    ///
    /// # Errors
    /// `Names` if the names are too many for one expression.
    pub fn namespaces(self, names: &[String]) -> Result<Self, QueryError> {
        self.one_of("namespace", names)
    }

    /// Restricts to pods with these names.
    ///
    /// # Errors
    /// `Names` if the names are too many for one expression.
    pub fn pods(self, names: &[String]) -> Result<Self, QueryError> {
        self.one_of("pod", names)
    }

    /// Returns the label of nodes.
    pub fn node_label(&self) -> &str {
        &self.node_label
    }

    fn one_of(mut self, label: &str, names: &[String]) -> Result<Self, QueryError> {
        if let [name] = names {
            self.equal(label, name);
            return Ok(self);
        }
        let escaped: Vec<_> = names.iter().map(|name| regex::escape(name)).collect();
        let value = escaped.join("|");
        let pattern = Regex::new(&format!("^(?:{value})$"))
            .map_err(|error| QueryError::Names(error.to_string()))?;
        let matcher = Matcher::new(MatchOp::Re(pattern), label, &value);
        self.matchers.push(matcher);
        Ok(self)
    }

    fn equal(&mut self, label: &str, value: &str) {
        self.matchers
            .push(Matcher::new(MatchOp::Equal, label, value));
    }

    /// Returns the text of a template with this restriction.
    ///
    /// # Errors
    /// If the template cannot be restricted; see [`QueryError`].
    pub fn apply(&self, template: Template) -> Result<String, QueryError> {
        self.apply_to(template.text())
    }

    fn apply_to(&self, template: &str) -> Result<String, QueryError> {
        let mut query = parser::parse(template).map_err(QueryError::Template)?;
        self.restrict(&mut query)?;
        Ok(query.to_string())
    }

    fn restrict(&self, expression: &mut Expr) -> Result<(), QueryError> {
        match expression {
            Expr::VectorSelector(selector) => self.restrict_selector(selector),
            Expr::MatrixSelector(matrix) => self.restrict_selector(&mut matrix.vs),
            Expr::Aggregate(aggregate) => {
                if let Some(LabelModifier::Include(grouping) | LabelModifier::Exclude(grouping)) =
                    &mut aggregate.modifier
                {
                    for label in &mut grouping.labels {
                        if label == NODE_LABEL {
                            self.node_label.clone_into(label);
                        }
                    }
                }
                if let Some(parameter) = &mut aggregate.param {
                    self.restrict(parameter)?;
                }
                self.restrict(&mut aggregate.expr)
            }
            Expr::Binary(binary) => {
                self.restrict(&mut binary.lhs)?;
                self.restrict(&mut binary.rhs)
            }
            Expr::Call(call) => {
                let mut arguments = call.args.args.iter_mut();
                arguments.try_for_each(|argument| self.restrict(argument))
            }
            Expr::Unary(unary) => self.restrict(&mut unary.expr),
            Expr::Paren(group) => self.restrict(&mut group.expr),
            Expr::Subquery(subquery) => self.restrict(&mut subquery.expr),
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) => Ok(()),
            Expr::Extension(_) => Err(QueryError::Extension),
        }
    }

    fn restrict_selector(&self, selector: &mut VectorSelector) -> Result<(), QueryError> {
        let matchers = &mut selector.matchers;
        if !matchers.or_matchers.is_empty() {
            return Err(QueryError::Alternatives);
        }
        matchers.matchers.extend_from_slice(&self.matchers);
        Ok(())
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
