//! Log lines for TLS handshakes that fail because of a certificate, if clients must or may present
//! one: the connection ends before there is a request, so no other code can log it. Every client
//! that reaches the port can cause such a line, so their number is bounded.
use crate::client_network::client_network;
use crate::metrics::REFUSED_HANDSHAKES;
use metrics::Counter;
use rustls::{AlertDescription, Error};
use std::collections::HashSet;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A network gets one log line within this time.
const WINDOW: Duration = Duration::from_secs(60);
/// Maximum number of networks with a log line within that time.
const MAX_NETWORKS: usize = 20;

/// The certificate over which a handshake failed, and the reason.
#[derive(Debug)]
enum CertificateProblem {
    /// The client presented none, or one that is not accepted.
    OfClient(Error),
    /// The client does not accept the server's.
    OfServer(AlertDescription),
}

impl CertificateProblem {
    fn of(error: &std::io::Error) -> Option<Self> {
        match error.get_ref()?.downcast_ref::<Error>()? {
            found @ (Error::InvalidCertificate(_) | Error::NoCertificatesPresented) => {
                Some(Self::OfClient(found.clone()))
            }
            Error::AlertReceived(
                alert @ (AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA),
            ) => Some(Self::OfServer(*alert)),
            _ => None,
        }
    }
}

impl fmt::Display for CertificateProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OfClient(Error::NoCertificatesPresented) => {
                f.write_str("the client showed no certificate")
            }
            Self::OfClient(Error::InvalidCertificate(error)) => {
                write!(f, "the client's certificate was refused: {error}")
            }
            Self::OfClient(error) => write!(f, "the client's certificate was refused: {error}"),
            Self::OfServer(alert) => {
                write!(f, "the client refused this server's certificate: {alert:?}")
            }
        }
    }
}

/// The failed handshakes of one listener.
pub(super) struct HandshakeLog {
    listener: &'static str,
    of_client: Counter,
    of_server: Counter,
    recent: Mutex<Recent>,
}

#[derive(Debug)]
struct Recent {
    since: Instant,
    networks: HashSet<IpAddr>,
    /// Number of failures without a log line.
    suppressed: u64,
}

impl HandshakeLog {
    pub fn new(listener: &'static str) -> Self {
        let counter = |certificate: &'static str| metrics::counter!(REFUSED_HANDSHAKES, "listener" => listener, "certificate" => certificate);
        Self {
            listener,
            of_client: counter("client"),
            of_server: counter("server"),
            recent: Mutex::new(Recent {
                since: Instant::now(),
                networks: HashSet::new(),
                suppressed: 0,
            }),
        }
    }

    /// Records a failed handshake.
    pub fn failed(&self, peer: SocketAddr, error: &std::io::Error) {
        let Some(problem) = CertificateProblem::of(error) else {
            // scanners, health checks and clients that disconnect
            tracing::debug!(%peer, %error, "TLS handshake failed");
            return;
        };
        match problem {
            CertificateProblem::OfClient(_) => self.of_client.increment(1),
            CertificateProblem::OfServer(_) => self.of_server.increment(1),
        }
        if let Some(suppressed) = self.admit(peer.ip(), Instant::now()) {
            tracing::warn!(
                listener = self.listener,
                %peer,
                reason = %problem,
                suppressed,
                "TLS handshake failed"
            );
        }
    }

    /// Returns, if a line may be logged now, the number of those suppressed since the last one.
    fn admit(&self, address: IpAddr, now: Instant) -> Option<u64> {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(recent.since) >= WINDOW {
            recent.since = now;
            recent.networks.clear();
        }
        let network = client_network(address);
        if recent.networks.len() < MAX_NETWORKS && recent.networks.insert(network) {
            return Some(std::mem::take(&mut recent.suppressed));
        }
        recent.suppressed += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn finding_o7_a_flood_of_handshakes_costs_a_bounded_number_of_lines() {
        let log = HandshakeLog::new("test");
        let start = Instant::now();
        let of = |last: u8| IpAddr::from(Ipv4Addr::new(192, 0, 2, last));
        assert_eq!(log.admit(of(1), start), Some(0));
        for _ in 0..5 {
            assert_eq!(log.admit(of(1), start), None);
        }
        // a flood by one client does not suppress another client's line
        assert_eq!(log.admit(of(2), start), Some(5));
        let lines = (0..200)
            .filter_map(|last| log.admit(of(last), start))
            .count();
        assert_eq!(lines, MAX_NETWORKS - 2);
        assert_eq!(log.admit(of(1), start + WINDOW), Some(180));
    }
}
