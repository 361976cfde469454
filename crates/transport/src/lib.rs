//! Causes of failed connections: one typed cause for what databases, HTTP clients and TLS report in
//! many forms.
//!
//! [`TransportFault::of`] derives it from an error and its sources by type: [`std::io::Error`] by
//! kind, TLS faults by `rustls::Error`. A failed name lookup is the exception. The standard library
//! gives it no kind of its own, so it is recognised by the text that the library puts in front.
use std::error::Error;
use std::io;
use std::sync::Arc;

use rustls::CertificateError;

/// Bounds the sources that are followed; a longer chain is a loop.
const MAX_DEPTH: usize = 16;
/// The prefix that the standard library adds to the resolver's message.
const LOOKUP_FAILED: &str = "failed to lookup address information";
const NO_ADDRESSES: &str = "could not resolve to any addresses";

/// The reason why a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum TransportFault {
    /// Nothing listens at the address.
    #[error("connection refused")]
    Refused,
    /// The name has no address.
    #[error("the host name does not resolve")]
    NameResolution,
    /// No route leads to the host or its network.
    #[error("no route to the host")]
    Unreachable,
    /// No response arrived in time: a firewall that drops packets, or a server that hangs.
    #[error("no answer in time")]
    Timeout,
    /// The peer closed the connection.
    #[error("the connection was closed")]
    Closed,
    /// The certificate is signed by an authority that is not trusted here.
    #[error("the server's certificate is not signed by a trusted authority")]
    UnknownAuthority,
    /// The certificate has expired.
    #[error("the server's certificate has expired")]
    CertificateExpired,
    /// The certificate becomes valid later.
    #[error("the server's certificate is not valid yet")]
    CertificateNotYetValid,
    /// The certificate is for other names than the requested one.
    #[error("the server's certificate is for another name")]
    CertificateName,
    /// The peer's response is not TLS.
    #[error("the server does not speak TLS on this port")]
    NotTls,
    /// The handshake failed for another reason.
    #[error("the TLS handshake failed")]
    Handshake,
}

impl TransportFault {
    /// Every fault, for tables and tests.
    pub const ALL: [Self; 11] = [
        Self::Refused,
        Self::NameResolution,
        Self::Unreachable,
        Self::Timeout,
        Self::Closed,
        Self::UnknownAuthority,
        Self::CertificateExpired,
        Self::CertificateNotYetValid,
        Self::CertificateName,
        Self::NotTls,
        Self::Handshake,
    ];

    /// Returns the fault that an error or one of its sources names; `None` when none does.
    pub fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        let mut last = None;
        for _ in 0..MAX_DEPTH {
            let Some(error) = next else { break };
            // the innermost error is the most specific: an `io::Error` may wrap a TLS error
            last = Self::of_one(error).or(last);
            next = inner(error);
        }
        last
    }

    fn of_one(error: &(dyn Error + 'static)) -> Option<Self> {
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return Some(Self::of_tls(error));
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Self::of_io(error);
        }
        error.downcast_ref::<Self>().copied()
    }

    fn of_io(error: &io::Error) -> Option<Self> {
        use io::ErrorKind as Kind;
        Some(match error.kind() {
            Kind::ConnectionRefused => Self::Refused,
            Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NetworkDown => {
                Self::Unreachable
            }
            Kind::TimedOut => Self::Timeout,
            Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::BrokenPipe
            | Kind::NotConnected
            | Kind::UnexpectedEof => Self::Closed,
            _ => {
                let text = error.to_string();
                let unresolved = text.starts_with(LOOKUP_FAILED) || text == NO_ADDRESSES;
                return (error.raw_os_error().is_none() && unresolved)
                    .then_some(Self::NameResolution);
            }
        })
    }

    fn of_tls(error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidMessage(_) => Self::NotTls,
            rustls::Error::InvalidCertificate(fault) => match fault {
                CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                    Self::UnknownAuthority
                }
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    Self::CertificateExpired
                }
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    Self::CertificateNotYetValid
                }
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Self::CertificateName,
                _ => Self::Handshake,
            },
            _ => Self::Handshake,
        }
    }

    /// Returns what an operator should do about it, as an imperative.
    pub fn next_step(self) -> &'static str {
        match self {
            Self::Refused => "start the server, and check host and port of the address",
            Self::NameResolution => {
                "correct the host name, or give this machine a resolver that knows it \
                 (`getent hosts NAME`)"
            }
            Self::Unreachable => "check the address and this machine's routes (`ip route get`)",
            Self::Timeout => {
                "check that the server is not overloaded and that no firewall drops the packets"
            }
            Self::Closed => {
                "look at the server's log; a proxy in between, or TLS on one side only, closes \
                 connections too"
            }
            Self::UnknownAuthority => {
                "name the authority that signs the server's certificate in the ca_file of this \
                 section (sslrootcert for PostgreSQL)"
            }
            Self::CertificateExpired => "renew the server's certificate, and check both clocks",
            Self::CertificateNotYetValid => "check both clocks (NTP)",
            Self::CertificateName => {
                "use a name that the certificate has as a subject alternative name, or issue one \
                 for this name"
            }
            Self::NotTls => "check the port, or use the address without TLS",
            Self::Handshake => {
                "look at the server's log: versions, cipher suites or a client certificate may \
                 be missing"
            }
        }
    }

    /// Returns the fault in words for users, as the end of a sentence about the server. Names no
    /// host, file or software.
    pub fn for_users(self) -> &'static str {
        match self {
            Self::Refused => "refuses connections",
            Self::NameResolution => "cannot be found by its name",
            Self::Unreachable => "cannot be reached over the network",
            Self::Timeout => "did not answer in time",
            Self::Closed => "closed the connection",
            Self::UnknownAuthority
            | Self::CertificateExpired
            | Self::CertificateNotYetValid
            | Self::CertificateName => "shows a certificate that Portico does not accept",
            Self::NotTls | Self::Handshake => "could not be reached over an encrypted connection",
        }
    }

    /// Returns whether the fault is in the server's certificate.
    pub fn is_certificate(self) -> bool {
        matches!(
            self,
            Self::UnknownAuthority
                | Self::CertificateExpired
                | Self::CertificateNotYetValid
                | Self::CertificateName
        )
    }
}

/// Returns the next error of a chain. `io::Error` leaves the error that it wraps out of its
/// sources, and so does a shared error.
fn inner<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    if let Some(io) = error.downcast_ref::<io::Error>() {
        return io.get_ref().map(|inner| inner as &(dyn Error + 'static));
    }
    if let Some(shared) = error.downcast_ref::<Arc<dyn Error + Send + Sync>>() {
        return Some(&**shared);
    }
    error.source()
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream, ToSocketAddrs as _};

    #[test]
    fn finding_o3_a_refused_connection_and_an_unknown_name_are_recognised() {
        let port = {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().port()
        };
        let refused = TcpStream::connect(("127.0.0.1", port)).unwrap_err();
        assert_eq!(TransportFault::of(&refused), Some(TransportFault::Refused));
        let unknown = ("no-such-host.invalid", 1).to_socket_addrs().unwrap_err();
        assert_eq!(
            TransportFault::of(&unknown),
            Some(TransportFault::NameResolution)
        );
    }

    #[test]
    fn finding_o3_tls_faults_are_found_within_io_and_shared_errors() {
        for (fault, expected) in [
            (
                CertificateError::UnknownIssuer,
                TransportFault::UnknownAuthority,
            ),
            (
                CertificateError::Expired,
                TransportFault::CertificateExpired,
            ),
            (
                CertificateError::NotValidForName,
                TransportFault::CertificateName,
            ),
        ] {
            let tls = rustls::Error::InvalidCertificate(fault);
            let io = io::Error::new(io::ErrorKind::InvalidData, tls);
            assert_eq!(TransportFault::of(&io), Some(expected));
            let shared: Arc<dyn Error + Send + Sync> = Arc::new(io);
            assert_eq!(TransportFault::of(&shared), Some(expected));
        }
    }

    #[test]
    fn finding_o3_every_fault_has_one_cause_one_step_and_words_for_users() {
        for fault in TransportFault::ALL {
            assert!(!fault.to_string().is_empty());
            assert!(!fault.next_step().is_empty() && !fault.next_step().ends_with('.'));
            assert!(!fault.for_users().contains("ca_file"), "{fault}");
        }
    }

    #[test]
    fn an_error_of_another_kind_is_not_a_transport_fault() {
        assert_eq!(TransportFault::of(&io::Error::other("other")), None);
    }
}
