//! A request of a drain, as the journal has it.
use portico_lifecycle::plan::ChosenNode;
use std::{fmt, str::FromStr};

/// A request of a drain: the target of its entry in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainRequest {
    /// The user does not continue.
    pub is_stop: bool,
    /// The ID of the server of the node.
    pub server: String,
    /// The name of the node.
    pub name: String,
}

impl DrainRequest {
    /// Returns the request in words, for the journal.
    pub fn title(&self) -> String {
        if self.is_stop {
            format!("Stop the drain of the node {}", self.name)
        } else {
            format!("Drain the node {}", self.name)
        }
    }

    /// Returns the request that ends it.
    pub fn stopped(self) -> Self {
        Self {
            is_stop: true,
            ..self
        }
    }

    /// Returns the node.
    pub fn node(&self) -> ChosenNode {
        ChosenNode {
            server: self.server.clone(),
            name: self.name.clone(),
        }
    }
}

/// The name is the last word, because it may have spaces.
impl fmt::Display for DrainRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.is_stop { "stop" } else { "begin" };
        write!(formatter, "{verb} {} {}", self.server, self.name)
    }
}

impl FromStr for DrainRequest {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.splitn(3, ' ');
        let mut next = || words.next().filter(|word| !word.is_empty()).ok_or(());
        let (verb, server, name) = (next()?, next()?, next()?);
        let is_stop = match verb {
            "begin" => false,
            "stop" => true,
            _ => return Err(()),
        };
        Ok(Self {
            is_stop,
            server: server.to_owned(),
            name: name.to_owned(),
        })
    }
}
