//! 27 to 30, 34 and 40: targets that can be read in two ways. Each is either refused as such, or
//! decided on and passed on as the same path, to the byte; and no upstream, however lenient, finds
//! in it what the decision was not about.
use serde_json::json;

use crate::{
    raw::{Answer, exchange},
    support::{
        browser::Browser,
        stack::{APP_HOST, Stack, Wanted},
    },
};

/// Refused to all but admins: `/adm/`. Open to all clients: `/open/`. The rest: to developers.
pub async fn stack() -> Stack {
    Stack::start(Wanted {
        app: json!({ "rules": [
            {
                "name": "adm", "effect": "deny", "paths": ["/adm/"],
                "except": { "who": [{ "role": "k8s_admin", "project": "$app" }] },
            },
            { "name": "open", "effect": "public", "paths": ["/open/"] },
        ] }),
        ..Wanted::default()
    })
    .await
}

/// The bytes of a target as the list writes them.
fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        if *first != b'\\' {
            bytes.push(*first);
            rest = more;
        } else if more[0] == b'\\' {
            bytes.push(b'\\');
            rest = &more[1..];
        } else {
            let hex = std::str::from_utf8(&more[1..3]).expect("hex");
            bytes.push(u8::from_str_radix(hex, 16).expect("hex"));
            rest = &more[3..];
        }
    }
    bytes
}

async fn get(stack: &Stack, target: &[u8], cookies: &str) -> Answer {
    let mut request = b"GET ".to_vec();
    request.extend_from_slice(target);
    let rest = format!(
        " HTTP/1.1\r\nHost: {APP_HOST}:8080\r\nSec-Fetch-Mode: cors\r\nConnection: close\r\n{cookies}\r\n"
    );
    request.extend_from_slice(rest.as_bytes());
    exchange(stack.address, &request).await
}

fn cookies(browser: &Browser) -> String {
    format!("Cookie: {}\r\n", browser.cookie_line(APP_HOST))
}

/// What servers make of a path that decode again, drop parameters, merge slashes, overlook dots
/// and spaces at the ends of names, or look for a query and a fragment after decoding: alone and
/// all at once.
fn as_others_see_it(path: &str) -> Vec<String> {
    let decode = |text: &str| {
        percent_encoding::percent_decode_str(text)
            .decode_utf8_lossy()
            .into_owned()
    };
    let once = decode(path);
    let (twice, thrice) = (decode(&once), decode(&decode(&once)));
    let by_name = |text: &str, change: &dyn Fn(&str) -> String| {
        let names: Vec<String> = text.split('/').map(change).collect();
        names.join("/")
    };
    let plain = |text: &str| {
        by_name(text, &|name| {
            name.split(';').next().unwrap_or("").to_owned()
        })
    };
    let trimmed = |text: &str| by_name(text, &|name| name.trim_end_matches(['.', ' ']).to_owned());
    let merged = |text: &str| {
        let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
        format!("/{}", names.join("/"))
    };
    let resolved = |text: &str| {
        let mut names: Vec<&str> = Vec::new();
        for name in text.split(['/', '\\']) {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                name => names.push(name),
            }
        }
        format!("/{}", names.join("/"))
    };
    let mut seen = Vec::new();
    let cut = |text: &String| text.split(['#', '?']).next().unwrap_or("").to_owned();
    let cuts = [&once, &twice, &thrice].map(cut);
    for text in [once, twice, thrice].into_iter().chain(cuts) {
        seen.extend([merged(&text), plain(&text), trimmed(&text), resolved(&text)]);
        seen.push(resolved(&merged(&trimmed(&plain(&text)))));
        seen.push(resolved(&plain(&text)));
        seen.push(text);
    }
    seen
}

fn is_below(path: &str, folder: &str) -> bool {
    path == folder
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

#[tokio::test]
async fn attack_29_what_can_be_read_in_two_ways_is_refused_or_is_one_path_for_all() {
    let stack = stack().await;
    let (_, session) = stack.signed_in(&["k8s_developer"]).await;
    let developer = cookies(&stack.on_the_app(&session).await);
    let (_, session) = stack.signed_in_as("u2", "eve", &["k8s_admin"]).await;
    let admin = cookies(&stack.on_the_app(&session).await);
    let rows = include_str!("data/paths.tsv").lines();
    let rows: Vec<Vec<&str>> = rows
        .filter(|row| !row.starts_with('#'))
        .map(|row| row.split('\t').collect())
        .collect();
    assert!(rows.len() >= 150, "{} rows", rows.len());
    let mut wrong = Vec::new();
    let mut passed = 0;
    for row in &rows {
        let [status, text, _] = row[..] else {
            panic!("{row:?}")
        };
        let target = bytes(text);
        // a fragment never leaves a browser; what a client sends all the same is cut off at once
        let sent = target.split(|byte| *byte == b'#').next().expect("first");
        let expected = status.parse::<u16>().expect("status");
        let asked = stack.app.asked();
        let answer = get(&stack, &target, &developer).await;
        if answer.status != expected {
            wrong.push(format!("{text}: {} in place of {expected}", answer.status));
            continue;
        }
        if answer.status != 200 {
            if stack.app.asked() != asked {
                wrong.push(format!("{text}: refused, and yet the app was asked"));
            }
        } else {
            passed += 1;
            let arrived = answer.json()["target"].as_str().expect("target").to_owned();
            if arrived.as_bytes() != sent {
                wrong.push(format!("{text}: arrived as {arrived}"));
            }
            let path = arrived.split('?').next().expect("path");
            if let Some(seen) = as_others_see_it(path)
                .iter()
                .find(|seen| is_below(seen, "/adm"))
            {
                wrong.push(format!("{text}: got through, and may be read as {seen}"));
            }
        }
        // the control case: a user who is excepted gets through wherever it is one path
        let control = get(&stack, &target, &admin).await.status;
        let ambiguous = matches!(expected, 400 | 421);
        if (ambiguous && control != expected) || (!ambiguous && control != 200) {
            wrong.push(format!("{text}: {control} for an admin"));
        }
        // without a session nothing is served but what is public, however it is read
        let public = get(&stack, &target, "").await;
        if public.status == 200 {
            let arrived = public.json()["target"].as_str().expect("target").to_owned();
            let path = arrived.split('?').next().expect("path");
            if let Some(seen) = as_others_see_it(path)
                .iter()
                .find(|seen| !is_below(seen, "/open"))
            {
                wrong.push(format!("{text}: public, and may be read as {seen}"));
            }
        } else if ![400, 401, 421].contains(&public.status) {
            wrong.push(format!("{text}: {} without a session", public.status));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
    assert!(passed > 40, "only {passed} got through");
}
