use clap::ValueEnum;
use std::fmt;

/// A part of the program that can run in a process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Role {
    /// Sign-in, sessions and the reverse proxy.
    Gateway,
    /// The pages.
    Panel,
    /// The webhook for Kubernetes API servers.
    KubeAuth,
}

impl Role {
    /// Every role, in the order in which they start.
    pub const ALL: [Self; 3] = [Self::KubeAuth, Self::Panel, Self::Gateway];
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gateway => "gateway",
            Self::Panel => "panel",
            Self::KubeAuth => "kube-auth",
        })
    }
}
