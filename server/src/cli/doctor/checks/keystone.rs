//! Checks Keystone: each endpoint, its version, its clock, and the service account.
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use crate::cli::service_account as account;
use portico_clock::Clock;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::error::Unavailable;
use portico_openstack::keystone::{self, Error};
use portico_runtime::error_chain;
use url::{Host, Url};

const SUBJECT: &str = "Keystone";
const ACCOUNT: &str = "service account";
/// Token expiry is in whole seconds; with a larger skew, sign-ins with a one-time code fail.
const MAX_SKEW_SECONDS: u64 = 30;
/// The minor version of Train, the first release with access rules.
const MIN_MINOR_VERSION: u32 = 13;

pub(super) async fn endpoint(section: &KeystoneConfig, url: &Url, clock: &Clock) -> Vec<Finding> {
    let mut alone = section.clone();
    alone.url = url.clone();
    alone.fallback_urls = Vec::new();
    let client = match keystone::Client::new(&alone, clock.clone()) {
        Ok(client) => client,
        Err(error) => {
            let seen = error.to_string();
            return vec![Finding::fault(Fault::KeystoneUnreachable, SUBJECT, seen)];
        }
    };
    let mut findings = Vec::new();
    if url.scheme() == "http" && !is_loopback(url) {
        findings.push(Finding::fault(
            Fault::KeystonePlainText,
            SUBJECT,
            url.as_str(),
        ));
    }
    match client.version().await {
        Ok(version) => {
            findings.push(Finding::ok(
                SUBJECT,
                format!("{url} answers ({})", version.id),
            ));
            if is_too_old(&version.id) {
                let seen = format!("{url} has {}", version.id);
                findings.push(Finding::fault(Fault::KeystoneTooOld, SUBJECT, seen));
            }
            findings.extend(clock_skew(client.clock_difference().as_secs()));
        }
        Err(error) => findings.push(unanswered(url, &error)),
    }
    findings
}

fn unanswered(url: &Url, error: &Error) -> Finding {
    let fault = match error {
        Error::Unavailable(Unavailable::Connect(Some(fault))) if fault.is_certificate() => {
            Fault::KeystoneCertificate
        }
        Error::Unavailable(_) => Fault::KeystoneUnreachable,
        _ => Fault::KeystoneWrongPath,
    };
    let finding = Finding::fault(fault, SUBJECT, format!("{url}: {error}"));
    match error.next_step() {
        Some(next_step) if fault == Fault::KeystoneUnreachable => finding.remedy(next_step),
        _ => finding,
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn is_too_old(id: &str) -> bool {
    let minor = id.strip_prefix("v3.").map(str::parse::<u32>);
    matches!(minor, Some(Ok(minor)) if minor < MIN_MINOR_VERSION)
}

fn clock_skew(seconds: i64) -> Option<Finding> {
    (seconds.unsigned_abs() >= MAX_SKEW_SECONDS).then(|| {
        let side = if seconds > 0 { "ahead of" } else { "behind" };
        let seen = format!(
            "Keystone's is {} s {side} this machine's",
            seconds.unsigned_abs()
        );
        Finding::fault(Fault::ClockSkew, "clock", seen)
    })
}

pub(super) async fn service_account(section: &KeystoneConfig, clock: &Clock) -> Vec<Finding> {
    let refused = |seen: String| vec![Finding::fault(Fault::ServiceAccountRefused, ACCOUNT, seen)];
    let client = match keystone::Client::new(section, clock.clone()) {
        Ok(client) => client,
        // reported by the check of the endpoint
        Err(_) => return Vec::new(),
    };
    let account = match account::open(section, client) {
        Ok(Some(account)) => account,
        Ok(None) => return Vec::new(),
        Err(error) => return refused(error_chain(&*error)),
    };
    match account.check().await {
        Ok(found) if found.is_admin() => {
            let name = found.user.name;
            vec![Finding::fault(Fault::ServiceAccountAdmin, ACCOUNT, name)]
        }
        Ok(found) => vec![Finding::ok(
            ACCOUNT,
            format!("{} can sign in", found.user.name),
        )],
        Err(error) => refused(error.to_string()),
    }
}
