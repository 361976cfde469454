//! A change as it is typed.
use super::super::create::pairs;
use portico_domain::panel::lifecycle::{NewNodeGroup, NodeGroupChange, NodeGroupDetail};

/// What is being changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Create,
    Resize(String),
    Settings(String),
    Delete(String),
}

/// The texts of the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    pub name: String,
    /// The size of the group as the user sees it: another one is not resized.
    pub from: u32,
    pub nodes: String,
    pub flavor: String,
    pub min: String,
    pub max: String,
    pub labels: String,
    pub taints: String,
    pub typed: String,
    pub reason: String,
}

impl Texts {
    /// Returns the texts of a group as it is.
    pub fn of(group: &NodeGroupDetail) -> Self {
        let number = |value: Option<u32>| value.map(|value| value.to_string()).unwrap_or_default();
        Self {
            name: group.name.clone(),
            from: group.node_count,
            nodes: group.node_count.to_string(),
            flavor: group.flavor.clone().unwrap_or_default(),
            min: number(group.min),
            max: number(group.max),
            labels: pairs::text_of(&group.labels),
            taints: group.taints.join("\n"),
            ..Self::default()
        }
    }

    /// Returns the texts of a new group with a name that no other has.
    pub fn new_group(taken: &[&str]) -> Self {
        let free = (1..=taken.len() + 1)
            .map(|number| format!("workers-{number}"))
            .find(|name| !taken.contains(&name.as_str()));
        Self {
            name: free.unwrap_or_default(),
            nodes: "1".to_owned(),
            ..Self::default()
        }
    }

    /// Returns the change.
    ///
    /// # Errors
    /// What cannot be read, as a sentence.
    pub fn change(&self, kind: &Kind) -> Result<NodeGroupChange, String> {
        let bounds = || -> Result<(Option<u32>, Option<u32>), String> {
            Ok((
                optional(&self.min, "The minimum")?,
                optional(&self.max, "The maximum")?,
            ))
        };
        Ok(match kind {
            Kind::Create => {
                let (min, max) = bounds()?;
                NodeGroupChange::Create(NewNodeGroup {
                    name: self.name.trim().to_owned(),
                    nodes: number(&self.nodes, "The number of nodes")?,
                    flavor: Some(self.flavor.trim().to_owned()).filter(|text| !text.is_empty()),
                    min,
                    max,
                    labels: pairs::of_text(&self.labels),
                    taints: pairs::lines(&self.taints),
                })
            }
            Kind::Resize(group) => {
                let (min, max) = bounds()?;
                NodeGroupChange::Resize {
                    group: group.clone(),
                    from: self.from,
                    nodes: number(&self.nodes, "The number of nodes")?,
                    min,
                    max,
                    accepted_pods: Vec::new(),
                }
            }
            Kind::Settings(group) => {
                let (min, max) = bounds()?;
                NodeGroupChange::Settings {
                    group: group.clone(),
                    min,
                    max,
                    labels: pairs::of_text(&self.labels),
                    taints: pairs::lines(&self.taints),
                }
            }
            Kind::Delete(group) => NodeGroupChange::Delete {
                group: group.clone(),
                typed: self.typed.trim().to_owned(),
            },
        })
    }
}

fn number(text: &str, what: &str) -> Result<u32, String> {
    let read = text.trim().parse();
    read.map_err(|_| format!("{what} is a whole number, such as 3."))
}

fn optional(text: &str, what: &str) -> Result<Option<u32>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    number(text, what).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_cannot_be_read_is_a_sentence() {
        let texts = Texts {
            nodes: "three".to_owned(),
            ..Texts::default()
        };
        let error = texts.change(&Kind::Resize("gpu".to_owned())).unwrap_err();
        assert!(error.contains("whole number"), "{error}");
    }

    #[test]
    fn an_empty_bound_stays_as_it_is() {
        let texts = Texts {
            from: 2,
            nodes: " 3 ".to_owned(),
            max: "5".to_owned(),
            ..Texts::default()
        };
        assert_eq!(
            texts.change(&Kind::Resize("gpu".to_owned())),
            Ok(NodeGroupChange::Resize {
                group: "gpu".to_owned(),
                from: 2,
                nodes: 3,
                min: None,
                max: Some(5),
                accepted_pods: Vec::new(),
            })
        );
    }

    #[test]
    fn a_new_group_has_a_name_that_no_other_has() {
        let texts = Texts::new_group(&["default-worker", "workers-1"]);
        assert_eq!(texts.name, "workers-2");
        let change = texts.change(&Kind::Create).unwrap();
        assert_eq!(change.group(), "workers-2");
    }
}
