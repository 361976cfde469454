use super::*;
use portico_proxy::headers::cookies::{is_reserved, without_reserved};
use proptest::prelude::*;

const VALUE: &str = "0123456789abcdefghijABCDEFGHIJ0123456789_-x";

fn headers(lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(
            header::COOKIE,
            HeaderValue::from_bytes(line.as_bytes()).expect("value"),
        );
    }
    headers
}

#[test]
fn a_session_cookie_is_read() {
    let cookies = Cookies { secure: true };
    let headers = headers(&["a=b", &format!("theme=dark; __Host-portico={VALUE}")]);
    let read = cookies.read(&headers, Purpose::Session).expect("read");
    assert_eq!(read.expose_secret(), VALUE);
}

#[test]
fn planted_broken_and_foreign_cookies_do_not_count() {
    let cookies = Cookies { secure: false };
    for line in [
        format!("portico={VALUE}; portico={VALUE}"),
        format!("__Host-portico={VALUE}"),
        "portico=short".to_owned(),
        format!("portico={}", "x".repeat(9000)),
        format!("portico=\"{}\"", &VALUE[2..]),
        ";;;=;".to_owned(),
        "portico".to_owned(),
    ] {
        assert!(
            cookies.read(&headers(&[&line]), Purpose::Session).is_none(),
            "{line}"
        );
    }
}

#[test]
fn each_open_form_has_a_cookie_of_its_own() {
    let cookies = Cookies { secure: true };
    let values: Vec<SecretString> = (0..3)
        .map(|n| SecretString::from(format!("{n}{}", &VALUE[1..])))
        .collect();
    let lines: Vec<String> = values
        .iter()
        .map(|value| {
            let line = cookies.set_slot(Purpose::SignIn, value, 60).expect("line");
            let line = line.to_str().expect("text").to_owned();
            line.split(';').next().expect("pair").to_owned()
        })
        .collect();
    let all = headers(&[&lines.join("; ")]);
    let read = cookies.read_slots(&all, Purpose::SignIn);
    let exposed = |all: &[SecretString]| -> Vec<String> {
        all.iter().map(|v| v.expose_secret().to_owned()).collect()
    };
    assert_eq!(exposed(&read), exposed(&values));
    assert!(without_reserved(&all).is_none(), "they travel on");
    // one under another's name is planted
    let planted = lines[0].replace(values[0].expose_secret(), values[1].expose_secret());
    assert!(
        cookies
            .read_slots(&headers(&[&planted]), Purpose::SignIn)
            .is_empty()
    );
    let many = lines[0].clone() + &format!("; {}", lines[0]).repeat(100);
    let many = cookies.read_slots(&headers(&[&many]), Purpose::SignIn);
    assert_eq!(many.len(), MAX_SLOTS);
}

#[test]
fn written_cookies_are_host_only() {
    let line = Cookies { secure: true }
        .set(Purpose::Session, &SecretString::from(VALUE))
        .expect("line");
    assert_eq!(
        line.to_str().expect("text"),
        format!("__Host-portico={VALUE}; Path=/; HttpOnly; Secure; SameSite=Lax")
    );
}

#[test]
fn a_reader_that_decodes_names_sees_no_planted_cookie() {
    let cookies = Cookies { secure: true };
    let name = cookies.name(Purpose::State);
    let other = format!("__Host-portico={VALUE}");
    for planted in [
        "__Host%2Dportico-state=planted",
        "%5F_Host-portico-state=planted",
        "__Host-portico-state =planted",
        "\u{a0}__Host-portico-state=planted",
        "__Host-portico-state\u{2003}=planted",
    ] {
        for own in [None, Some("own")] {
            let own = own.map(|value| format!("{name}={value}"));
            let lines = [Some(planted), Some(other.as_str()), own.as_deref()];
            let lines: Vec<&str> = lines.into_iter().flatten().collect();
            let mut all = headers(&lines);
            cookies.keep_plain(&mut all, Purpose::State);
            let kept: Vec<&str> = [Some(other.as_str()), own.as_deref()]
                .into_iter()
                .flatten()
                .collect();
            assert_eq!(all[header::COOKIE], kept.join("; "), "{planted}");
        }
    }
    let mut twice = headers(&["__Host-portico-state=own; __Host-portico-state=planted"]);
    cookies.keep_plain(&mut twice, Purpose::State);
    assert!(twice.get(header::COOKIE).is_none(), "{twice:?}");
}

#[test]
fn a_response_that_sets_a_cookie_is_recognised() {
    let cookies = Cookies { secure: true };
    let set = |line: &str| {
        let mut headers = HeaderMap::new();
        headers.append(header::SET_COOKIE, HeaderValue::from_static("a=b"));
        let line = HeaderValue::try_from(line).expect("line");
        headers.append(header::SET_COOKIE, line);
        cookies.sets(&headers, Purpose::Session)
    };
    assert!(set("__Host-portico=x; Path=/"));
    assert!(!set("__Host-portico=; Max-Age=0"));
    assert!(!set("__Host-portico-flow=x; Path=/"));
}

proptest! {
    #[test]
    fn no_cookie_line_panics(line in prop::collection::vec(32_u8..=126, 0..80)) {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_bytes(&line).expect("value"));
        let _ = Cookies { secure: true }.read(&headers, Purpose::Session);
        let left = without_reserved(&headers);
        prop_assert!(left.is_none_or(|left| pairs_of(&left).iter().all(|name| !is_reserved(name))));
    }
}

fn pairs_of(value: &HeaderValue) -> Vec<String> {
    value
        .to_str()
        .expect("text")
        .split(';')
        .map(|pair| pair.split('=').next().unwrap_or_default().trim().to_owned())
        .collect()
}
