//! Fuzzes return paths after sign-in.
use bolero::check;
use portico_testkit::fuzz::{Change, edited, seeds, time};
use url::Url;

use crate::http::return_path::{OWN_STEPS, ReturnPath};
use portico_request::path;

/// Spellings of other hosts; the attack suite sends the same ones to a running gateway.
const OPEN_REDIRECTS: &str = include_str!("../../tests/data/open-redirects.json");
const RETURN_PATHS: &str = include_str!("seeds/return-paths.json");

const PIECES: [&str; 24] = [
    "/",
    "//",
    "\\",
    "\t",
    "\n",
    "\r",
    "\0",
    " ",
    "%2f",
    "%5c",
    "%09",
    "%2e",
    "..",
    ".",
    "@",
    ":",
    "?",
    "#",
    ";",
    "https:",
    "evil.example",
    "\u{3002}",
    "\u{feff}",
    "/oauth2/sign_out",
];

/// Returns whether a browser that follows the path stays on the same host.
fn stays(destination: &ReturnPath) -> bool {
    let path = destination.as_str();
    let on_hosts = ["https://portico.example.org/x/y?z", "http://localhost:8080"];
    let joined = on_hosts.iter().all(|base| {
        let base = Url::parse(base).unwrap();
        let url = base.join(path).unwrap();
        url.origin() == base.origin() && url.username().is_empty() && url.password().is_none()
    });
    // a reader that is more lenient than the standard
    let tolerant: String = path
        .chars()
        .filter(|letter| !letter.is_whitespace() && !letter.is_control())
        .map(|letter| if letter == '\\' { '/' } else { letter })
        .collect();
    joined
        && path.bytes().all(|byte| byte.is_ascii_graphic())
        && tolerant.starts_with('/')
        && !tolerant.starts_with("//")
}

fn check_destination(raw: &str) {
    let destination = ReturnPath::parse(raw);
    assert!(stays(&destination), "{raw:?} leads to {destination}");
    assert_eq!(path::check(destination.path()), Ok(()), "{raw:?}");
    let place = destination.path();
    let own = place == "/oauth2" || place.starts_with("/oauth2/");
    assert!(
        !own || OWN_STEPS.contains(&place),
        "{raw:?} leads to {place}"
    );
    // a destination is passed through forms and links: read again, it is unchanged or the home page
    let again = ReturnPath::parse(destination.as_str());
    assert!(
        again == destination || again == ReturnPath::home(),
        "{raw:?}"
    );
}

#[test]
fn fuzz_return_paths() {
    let elsewhere = seeds(OPEN_REDIRECTS);
    assert!(elsewhere.len() >= 200, "{} spellings", elsewhere.len());
    let kept = seeds(RETURN_PATHS);
    for seed in &kept {
        assert_eq!(ReturnPath::parse(seed).as_str(), seed, "the control case");
    }
    let all = [elsewhere, kept].concat();
    for seed in &all {
        check_destination(seed);
    }
    check!()
        .with_test_time(time())
        .with_type::<Change>()
        .for_each(|change| {
            let raw = edited(&all, &PIECES, change);
            check_destination(&String::from_utf8_lossy(&raw));
        });
}
