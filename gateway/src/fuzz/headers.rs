//! Fuzzes the filters for request and response headers.
use bolero::check;
use http::{HeaderMap, HeaderName, header};
use portico_testkit::fuzz::{Change, edited, seeds, time};

use super::headers_in;
use portico_proxy::headers::{Trust, clean_request, clean_response};

const REQUESTS: &str = include_str!("seeds/requests.json");
const ANSWERS: &str = include_str!("seeds/answers.json");

const PIECES: [&str; 21] = [
    "\n",
    ": ",
    "connection: ",
    "x-forwarded-",
    "X_Forwarded_User: root\n",
    "x-auth-request-user: root\n",
    "remote-user: root\n",
    "grafana-user: root\n",
    "portico-assertion: x\n",
    "authorization: Basic eDp5\n",
    "cookie: portico=x\n",
    "set-cookie: portico=x; Domain=example.org\n",
    "transfer-encoding: chunked\n",
    "_",
    "-",
    ",",
    ";",
    "=",
    "Domain=",
    "keep-alive",
    "\t",
];

/// Headers that an upstream must never get from a client: listed again, independently of the tested
/// list.
const STRIPPED_HEADERS: [&str; 16] = [
    "x-forwarded-for",
    "x-forwarded-user",
    "x-forwarded-host",
    "forwarded",
    "x-real-ip",
    "x-auth-request-user",
    "x-webauth-user",
    "x-remote-user",
    "remote-user",
    "impersonate-user",
    "portico-assertion",
    "portico-token",
    "authorization",
    "x-original-url",
    "transfer-encoding",
    "upgrade",
];

/// The identity headers of an app's configuration.
const IDENTITY_HEADERS: [HeaderName; 1] = [HeaderName::from_static("grafana-user")];

/// Headers that carry no identity.
const HARMLESS_HEADERS: [&str; 4] = ["accept", "content-type", "user-agent", "x-csrf-token"];

fn named_by_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let lines = headers.get_all(header::CONNECTION).iter();
    lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .collect()
}

fn check_request(text: &[u8]) {
    let before = headers_in(text);
    let hop_by_hop = named_by_connection(&before);
    let mut headers = before.clone();
    clean_request(&mut headers, &IDENTITY_HEADERS);
    for name in headers.keys() {
        assert!(!name.as_str().contains('_'), "{name} passed");
        assert!(!hop_by_hop.contains(name), "{name} passed");
    }
    for name in STRIPPED_HEADERS.iter().copied().chain(["grafana-user"]) {
        assert!(!headers.contains_key(name), "{name} passed");
    }
    for name in HARMLESS_HEADERS {
        let kept: Vec<_> = headers.get_all(name).iter().collect();
        let sent: Vec<_> = before.get_all(name).iter().collect();
        let by_hop = hop_by_hop.iter().any(|hop| hop == name);
        assert!(by_hop || kept == sent, "{name} was changed");
    }
    let mut again = headers.clone();
    clean_request(&mut again, &IDENTITY_HEADERS);
    assert_eq!(again, headers, "cleaned twice it is something else");
}

fn check_answer(text: &[u8]) {
    let before = headers_in(text);
    for trust in [Trust::App, Trust::Panel] {
        let mut headers = before.clone();
        clean_response(&mut headers, trust);
        for line in headers.get_all(header::SET_COOKIE) {
            let line = String::from_utf8_lossy(line.as_bytes()).to_lowercase();
            let mut parts = line.split(';');
            let name = parts.next().and_then(|pair| pair.split('=').next());
            let name = name.unwrap_or_default().trim();
            assert!(!["portico", "__host-portico"].contains(&name), "{line}");
            let attribute = |part: &str| part.split('=').next().unwrap_or_default().to_owned();
            let domain = parts.any(|part| attribute(part).trim_ascii() == "domain");
            assert!(!domain, "{line}");
        }
        for name in ["connection", "transfer-encoding", "portico-assertion"] {
            assert!(!headers.contains_key(name), "{name} passed");
        }
        if trust == Trust::App {
            for name in ["clear-site-data", "service-worker-allowed"] {
                assert!(!headers.contains_key(name), "{name} passed");
            }
        }
        assert_eq!(headers[header::X_FRAME_OPTIONS], "DENY");
    }
}

#[test]
fn fuzz_headers() {
    let (requests, answers) = (seeds(REQUESTS), seeds(ANSWERS));
    for seed in &requests {
        check_request(seed.as_bytes());
        assert!(headers_in(seed.as_bytes()).len() > 1, "{seed}");
    }
    for seed in &answers {
        check_answer(seed.as_bytes());
    }
    check!()
        .with_test_time(time())
        .with_type::<(bool, Change)>()
        .for_each(|(to_upstream, change)| {
            if *to_upstream {
                check_request(&edited(&requests, &PIECES, change));
            } else {
                check_answer(&edited(&answers, &PIECES, change));
            }
        });
}
