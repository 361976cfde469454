//! `portico cluster create …` from a specification, and back.
use super::{
    Api, ClusterDocument, ClusterSpec, ControlPlane, DEFAULT_GROUP, ExistingNetwork, Exposure,
    Metadata, Network, NodeGroupSpec, labels_of_fields,
};

/// The annotation with the reason for the cluster's journal, which `--reason` sets.
pub const REASON_ANNOTATION: &str = "portico.dev/reason";
const COMMAND: [&str; 3] = ["portico", "cluster", "create"];

/// The command that makes a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLine {
    /// All words of the command.
    Flags(Vec<String>),
    /// The flags cannot express the specification: `portico cluster create -f <name>.yaml`.
    File {
        words: Vec<String>,
        /// What they cannot express.
        because: Vec<&'static str>,
    },
}

/// A command line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandLineError {
    #[error("the flag {0} is not known; see portico cluster create --help")]
    UnknownFlag(String),
    #[error("the flag {0} needs a value")]
    MissingValue(String),
    #[error("{flag}: {value:?} is not a whole number")]
    Number { flag: String, value: String },
    #[error("--set: {0:?} is not a label; write key=value")]
    Label(String),
    #[error("{0} is there twice")]
    Twice(String),
    #[error("the name of the cluster is missing")]
    NameMissing,
    #[error("the template is missing: add -t TEMPLATE")]
    TemplateMissing,
}

impl CommandLine {
    /// Returns the command for a specification.
    pub fn of(document: &ClusterDocument) -> Self {
        let because = inexpressible(document);
        if because.is_empty() {
            return Self::Flags(flags(document));
        }
        let mut words: Vec<String> = COMMAND.iter().map(|word| (*word).to_owned()).collect();
        words.extend(["-f".to_owned(), format!("{}.yaml", document.metadata.name)]);
        Self::File { words, because }
    }

    /// Returns the words.
    pub fn words(&self) -> &[String] {
        match self {
            Self::Flags(words) | Self::File { words, .. } => words,
        }
    }

    /// Returns one line for a POSIX shell.
    pub fn to_shell(&self) -> String {
        let words: Vec<_> = self.words().iter().map(|word| quoted(word)).collect();
        words.join(" ")
    }

    /// Reads the words of a command with flags, with or without `portico cluster create`.
    ///
    /// # Errors
    /// [`CommandLineError`] names the flag that is unknown, repeated or malformed.
    pub fn read(words: &[String]) -> Result<ClusterDocument, CommandLineError> {
        let begin = words
            .iter()
            .zip(COMMAND)
            .take_while(|(word, expected)| word == expected)
            .count();
        let begin = if begin == COMMAND.len() { begin } else { 0 };
        let mut reader = Reader::default();
        let mut rest = words.iter().skip(begin);
        while let Some(word) = rest.next() {
            if !word.starts_with('-') {
                set("the name", &mut reader.name, word.clone())?;
                continue;
            }
            let (flag, value) = match word.split_once('=') {
                Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
                None => (word.clone(), rest.next().cloned()),
            };
            let value = value.ok_or_else(|| CommandLineError::MissingValue(flag.clone()))?;
            reader.flag(&flag, value)?;
        }
        reader.finish()
    }
}

/// What the flags cannot express.
fn inexpressible(document: &ClusterDocument) -> Vec<&'static str> {
    let spec = &document.spec;
    let group = spec.default_group();
    let has_bounds_or_labels = group.is_some_and(|group| {
        group.min.is_some()
            || group.max.is_some()
            || !group.labels.is_empty()
            || !group.taints.is_empty()
            || (group.replicas.is_none() && group.flavor.is_none())
    });
    let is_mixed =
        !spec.api.allowed_cidrs.is_empty() && spec.api.exposure != Some(Exposure::Public);
    let annotations = document.metadata.annotations.keys();
    let has_only_subnet = spec
        .network
        .existing
        .as_ref()
        .is_some_and(|existing| existing.network.is_none());
    [
        (
            spec.further_groups().next().is_some(),
            "further node groups",
        ),
        (
            has_bounds_or_labels,
            "bounds, labels or taints of default-worker",
        ),
        (is_mixed, "networks of an API that is not public"),
        (has_only_subnet, "a subnet without its network"),
        (
            spec.control_plane.load_balancer.is_some(),
            "the load balancer",
        ),
        (spec.network.floating_ips.is_some(), "floating IPs of nodes"),
        (
            spec.docker_volume_size.is_some(),
            "the volume for containers",
        ),
        (spec.discovery_url.is_some(), "the discovery URL"),
        (!spec.services.is_empty(), "services"),
        (spec.is_protected(), "protection"),
        (
            annotations.clone().any(|key| key != REASON_ANNOTATION),
            "annotations",
        ),
    ]
    .into_iter()
    .filter_map(|(is_there, name)| is_there.then_some(name))
    .collect()
}

fn flags(document: &ClusterDocument) -> Vec<String> {
    let spec = &document.spec;
    let group = spec.default_group();
    let existing = spec.network.existing.as_ref();
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    let api = match (spec.api.exposure, spec.api.allowed_cidrs.is_empty()) {
        (Some(Exposure::Private), _) => Some("private".to_owned()),
        (Some(Exposure::Public), true) => Some("public".to_owned()),
        (_, false) => Some(spec.api.allowed_cidrs.join(",")),
        (None, true) => None,
    };
    let metadata = &document.metadata;
    let options = [
        ("-t", Some(spec.template.clone())),
        ("--masters", number(spec.control_plane.replicas)),
        ("--workers", number(group.and_then(|group| group.replicas))),
        ("--flavor", group.and_then(|group| group.flavor.clone())),
        ("--master-flavor", spec.control_plane.flavor.clone()),
        ("--keypair", spec.keypair.clone()),
        (
            "--network",
            existing.and_then(|existing| existing.network.clone()),
        ),
        (
            "--subnet",
            existing.and_then(|existing| existing.subnet.clone()),
        ),
        ("--api", api),
        ("--zone", spec.zone.clone()),
        ("--create-timeout", number(spec.create_timeout)),
        ("--cloud", spec.provider.cloud.clone()),
        ("--project", metadata.project.clone()),
        (
            "--reason",
            metadata.annotations.get(REASON_ANNOTATION).cloned(),
        ),
    ];
    let mut words: Vec<String> = COMMAND.iter().map(|word| (*word).to_owned()).collect();
    words.push(metadata.name.clone());
    for (flag, value) in options {
        if let Some(value) = value {
            words.extend([flag.to_owned(), value]);
        }
    }
    for (key, value) in &spec.labels {
        words.extend(["--set".to_owned(), format!("{key}={value}")]);
    }
    words
}

#[derive(Default)]
struct Reader {
    name: Option<String>,
    template: Option<String>,
    project: Option<String>,
    reason: Option<String>,
    api: Option<String>,
    network: Option<String>,
    subnet: Option<String>,
    workers: Option<u32>,
    flavor: Option<String>,
    control_plane: ControlPlane,
    spec: ClusterSpec,
}

impl Reader {
    fn flag(&mut self, flag: &str, value: String) -> Result<(), CommandLineError> {
        match flag {
            "-t" | "--template" => set(flag, &mut self.template, value),
            "--masters" => set(flag, &mut self.control_plane.replicas, number(flag, value)?),
            "--workers" => set(flag, &mut self.workers, number(flag, value)?),
            "--flavor" => set(flag, &mut self.flavor, value),
            "--master-flavor" => set(flag, &mut self.control_plane.flavor, value),
            "--keypair" => set(flag, &mut self.spec.keypair, value),
            "--network" => set(flag, &mut self.network, value),
            "--subnet" => set(flag, &mut self.subnet, value),
            "--api" => set(flag, &mut self.api, value),
            "--zone" => set(flag, &mut self.spec.zone, value),
            "--create-timeout" => set(flag, &mut self.spec.create_timeout, number(flag, value)?),
            "--cloud" => set(flag, &mut self.spec.provider.cloud, value),
            "-p" | "--project" => set(flag, &mut self.project, value),
            "--reason" => set(flag, &mut self.reason, value),
            "--set" => {
                let Some((key, label)) = value.split_once('=') else {
                    return Err(CommandLineError::Label(value));
                };
                let old = self.spec.labels.insert(key.to_owned(), label.to_owned());
                match old {
                    Some(_) => Err(CommandLineError::Twice(format!("--set {key}"))),
                    None => Ok(()),
                }
            }
            _ => Err(CommandLineError::UnknownFlag(flag.to_owned())),
        }
    }

    fn finish(mut self) -> Result<ClusterDocument, CommandLineError> {
        self.spec.template = self.template.ok_or(CommandLineError::TemplateMissing)?;
        self.spec.control_plane = self.control_plane;
        self.spec.api = match self.api.as_deref() {
            None => Api::default(),
            Some("private") => Api {
                exposure: Some(Exposure::Private),
                allowed_cidrs: Vec::new(),
            },
            Some("public") => Api {
                exposure: Some(Exposure::Public),
                allowed_cidrs: Vec::new(),
            },
            Some(cidrs) => Api {
                exposure: Some(Exposure::Public),
                allowed_cidrs: cidrs
                    .split(',')
                    .map(|cidr| cidr.trim().to_owned())
                    .collect(),
            },
        };
        if self.network.is_some() || self.subnet.is_some() {
            self.spec.network = Network {
                existing: Some(ExistingNetwork {
                    network: self.network,
                    subnet: self.subnet,
                }),
                floating_ips: None,
            };
        }
        if self.workers.is_some() || self.flavor.is_some() {
            self.spec.node_groups.push(NodeGroupSpec {
                name: DEFAULT_GROUP.to_owned(),
                replicas: self.workers,
                flavor: self.flavor,
                ..NodeGroupSpec::default()
            });
        }
        labels_of_fields::lift(&mut self.spec);
        let metadata = Metadata {
            name: self.name.ok_or(CommandLineError::NameMissing)?,
            project: self.project,
            annotations: self
                .reason
                .map(|reason| (REASON_ANNOTATION.to_owned(), reason))
                .into_iter()
                .collect(),
        };
        Ok(ClusterDocument::new(metadata, self.spec))
    }
}

fn set<T>(flag: &str, target: &mut Option<T>, value: T) -> Result<(), CommandLineError> {
    match target.replace(value) {
        Some(_) => Err(CommandLineError::Twice(flag.to_owned())),
        None => Ok(()),
    }
}

fn number(flag: &str, value: String) -> Result<u32, CommandLineError> {
    value.parse().map_err(|_| CommandLineError::Number {
        flag: flag.to_owned(),
        value,
    })
}

/// Quotes a word for a POSIX shell, unless it needs no quotes.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty()
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c));
    if is_plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
