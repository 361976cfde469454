//! The compared gateways, and the identity that the upstream must receive.
use super::apache::{self, Apache};
use super::load::Ask;
use super::nginx;
use super::portico::{APP_HOST, APP_ID, LogFormat, MAIN, Person, Session, Workplace};
use super::upstream::{LARGE, SMALL, Upstream, WHOAMI};
use super::wire::{Answer, KeepAliveConnection, get};
use crate::process::{Forking, Server, Trees};
use anyhow::{Context as _, Result, bail, ensure};
use jiff::Timestamp;
use portico_assertion::Verifier;
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// How the upstream receives the user's identity.
#[derive(Clone, Debug)]
pub enum Identity {
    /// It receives none.
    None,
    /// A signed assertion for this user.
    Assertion(Verifier, String),
    /// `X-Auth-Request-User` with this user.
    AuthRequestUser(String),
    /// `OIDC_CLAIM_sub` with this subject.
    OidcClaim(String),
}

impl Identity {
    /// Compares the identity that the upstream received.
    pub fn check(&self, answer: &Answer<'_>) -> Result<()> {
        let text = answer.text()?;
        ensure!(answer.status == 200, "status {}: {text}", answer.status);
        let mut lines = text.split('\n');
        let mut line = || lines.next().context("a short answer");
        let (assertion, user, claim) = (line()?, line()?, line()?);
        let expected = match self {
            Self::None => ["", "", ""],
            Self::AuthRequestUser(user) => ["", user, ""],
            Self::OidcClaim(subject) => ["", "", subject],
            Self::Assertion(verifier, id) => {
                let claims = verifier.verify(assertion, APP_ID, MAIN, Timestamp::now())?;
                ensure!(claims.sub == *id, "another user: {}", claims.sub);
                [assertion, "", ""]
            }
        };
        ensure!(
            [assertion, user, claim] == expected,
            "the upstream received {text:?}"
        );
        Ok(())
    }
}

/// One of the compared gateways.
pub struct Contender {
    /// Its object in the results.
    pub name: &'static str,
    pub address: SocketAddr,
    pub processes: Trees,
    pub identity: Identity,
    /// Where its sessions are started.
    pub sessions_at: SocketAddr,
    host: String,
    cookie: String,
    logs: Vec<PathBuf>,
}

impl Contender {
    fn get(&self, path: &str, length: usize) -> Ask {
        Ask {
            request: get(&self.host, path, &self.cookie).into(),
            length,
        }
    }

    pub fn small(&self) -> Ask {
        self.get(SMALL.0, SMALL.1)
    }

    pub fn large(&self) -> Ask {
        self.get(LARGE.0, LARGE.1)
    }

    /// Returns the request for the identity that the upstream received, with a user's session.
    pub fn whoami(&self, cookie: &str) -> Arc<[u8]> {
        get(&self.host, WHOAMI, cookie).into()
    }

    /// Returns the headers that another client sends with its requests: `Host` and `Cookie`.
    pub fn headers(&self) -> [(&'static str, &str); 2] {
        [("Host", &self.host), ("Cookie", &self.cookie)]
    }

    pub fn own_cookie(&self) -> &str {
        &self.cookie
    }

    /// Truncates the logs, and counts the lines about `path`.
    pub fn take_log_lines(&self, path: &str) -> Result<u64> {
        let mut lines = 0;
        for log in &self.logs {
            let text = std::fs::read_to_string(log).with_context(|| log.display().to_string())?;
            lines += text.lines().filter(|line| line.contains(path)).count();
            File::options().write(true).open(log)?.set_len(0)?;
        }
        Ok(lines as u64)
    }
}

/// Everything that runs during the rounds.
pub struct Arena {
    pub contenders: Vec<Contender>,
    pub apache: Apache,
    _gateways: [Server; 2],
    _sessions: [Session; 2],
    _apache_session: apache::Session,
    _proxies: [Forking; 2],
    upstream: Upstream,
}

impl Arena {
    /// Starts all of them, and signs in where that is required.
    pub async fn start(place: &Workplace, person: &Person) -> Result<Self> {
        let dir = place.dir.path();
        let upstream = Upstream::start(dir).await?;
        let gateway = place.start("gateway", upstream.address, "").await?;
        let session = person.sign_in(gateway.address).await?;
        let identity = identity_of(gateway.address, person).await?;
        let human = place
            .start_logging("gateway-human", upstream.address, LogFormat::Human)
            .await?;
        let human_session = person.sign_in(human.address).await?;
        let human_identity = identity_of(human.address, person).await?;
        let (plain, asking) = (nginx::free_port()?, nginx::free_port()?);
        let blocks = nginx::plain(plain, upstream.address);
        let plain_proxy = nginx::start_as_shipped(dir, "nginx-plain", plain, &blocks).await?;
        let blocks = nginx::auth_request(asking, upstream.address, gateway.address);
        let asking_proxy = nginx::start(dir, "nginx-asking", asking, &blocks).await?;
        let apache = Apache::start(dir, upstream.address).await?;
        let apache_session = apache.sign_in().await?;
        let user = person.user.id.clone();
        let of_the_gateway = |name, address, processes, identity, log: PathBuf| Contender {
            name,
            address,
            processes: Trees(processes),
            identity,
            sessions_at: gateway.address,
            host: APP_HOST.to_owned(),
            cookie: session.cookie.clone(),
            logs: vec![log],
        };
        let contenders = vec![
            of_the_gateway(
                "nginx_proxy",
                plain,
                vec![plain_proxy.id()],
                Identity::None,
                dir.join("nginx-plain/access.log"),
            ),
            of_the_gateway(
                "gateway",
                gateway.address,
                vec![gateway.id()],
                identity,
                place.log("gateway"),
            ),
            Contender {
                name: "gateway_human_log",
                address: human.address,
                processes: Trees(vec![human.id()]),
                identity: human_identity,
                sessions_at: human.address,
                host: APP_HOST.to_owned(),
                cookie: human_session.cookie.clone(),
                logs: vec![place.log("gateway-human")],
            },
            of_the_gateway(
                "nginx_auth_request",
                asking,
                vec![asking_proxy.id(), gateway.id()],
                Identity::AuthRequestUser(user),
                dir.join("nginx-asking/access.log"),
            ),
            Contender {
                name: "mod_auth_openidc",
                address: apache.address,
                processes: Trees(vec![apache.server.id()]),
                identity: Identity::OidcClaim(apache::SUBJECT.to_owned()),
                sessions_at: apache.address,
                host: apache.host(),
                cookie: apache_session.cookie.clone(),
                logs: vec![apache::access_log(dir)?],
            },
        ];
        Ok(Self {
            contenders,
            apache,
            _gateways: [gateway, human],
            _sessions: [session, human_session],
            _apache_session: apache_session,
            _proxies: [plain_proxy, asking_proxy],
            upstream,
        })
    }
}

impl Arena {
    /// Adds another build of the program in front of the same upstream, to measure the effect of a
    /// change.
    pub async fn also(&mut self, place: &Workplace, person: &Person) -> Result<(Server, Session)> {
        let gateway = place.start("gateway", self.upstream.address, "").await?;
        let session = person.sign_in(gateway.address).await?;
        let identity = identity_of(gateway.address, person).await?;
        self.contenders.push(Contender {
            name: "gateway_before",
            address: gateway.address,
            processes: Trees(vec![gateway.id()]),
            identity,
            sessions_at: gateway.address,
            host: APP_HOST.to_owned(),
            cookie: session.cookie.clone(),
            logs: vec![place.log("gateway")],
        });
        Ok((gateway, session))
    }

    /// Removes all contenders except these from the rounds; without names, none.
    pub fn keep(&mut self, names: &[String]) -> Result<()> {
        let known = |name: &String| self.contenders.iter().any(|one| one.name == name);
        if let Some(unknown) = names.iter().find(|name| !known(name)) {
            bail!("no contender is called {unknown}");
        }
        if !names.is_empty() {
            self.contenders
                .retain(|one| names.iter().any(|name| name == one.name));
        }
        Ok(())
    }
}

/// Returns the identity that the upstream must receive for a user who is signed in at this gateway.
pub async fn identity_of(gateway: SocketAddr, person: &Person) -> Result<Identity> {
    let verifier = published_keys(gateway).await?;
    Ok(Identity::Assertion(verifier, person.user.id.clone()))
}

/// Returns the keys with which upstreams verify assertions.
async fn published_keys(gateway: SocketAddr) -> Result<Verifier> {
    let host = MAIN.strip_prefix("http://").context("a host")?;
    let mut connection = KeepAliveConnection::connect(gateway).await?;
    let request = get(host, "/.well-known/jwks.json", "");
    let answer = connection.ask(&request).await?;
    if answer.status != 200 {
        bail!("no keys: {}", answer.status);
    }
    Ok(Verifier::from_jwks(&serde_json::from_str(answer.text()?)?)?)
}
