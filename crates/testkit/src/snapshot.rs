//! What all snapshots of pages, errors and output have in common.
use insta::Settings;

/// What differs from run to run, as regular expressions, and what a snapshot has in its place.
const VARIABLE: &[(&str, &str)] = &[
    // CSRF tokens, one-time codes and references in forms
    (
        r#"name="(csrf_token|code|code_challenge|session)" value="[^"]+""#,
        r#"name="$1" value="[$1]""#,
    ),
    // the codes of terminals
    (r#"([>"])[A-Z0-9]{4}-[A-Z0-9]{4}([<"])"#, "$1[user code]$2"),
    (
        "Request <code>[^<]+</code>",
        "Request <code>[request ID]</code>",
    ),
    (
        r#""request_id": "[^"]+""#,
        r#""request_id": "[request ID]""#,
    ),
    (r#"datetime="[^"]+">[^<]+<"#, r#"datetime="[time]">[time]<"#),
    (r"</time> \(in [^()<]+\)", "</time> (in [duration])"),
    (
        r"</time> \((just now|[^()<]+ ago)\)",
        "</time> ([duration] ago)",
    ),
    // rows of the list of sessions
    (r#""session-[0-9a-f-]{36}""#, r#""session-[session ID]""#),
    (r#"signed in [0-9: -]+ UTC""#, r#"signed in [time]""#),
    // the hash of the files that pages refer to
    (r"\?v=[0-9a-f]{12}\b", "?v=[hash]"),
    (r"\b(127\.0\.0\.1|localhost):[0-9]{4,5}\b", "$1:[port]"),
    // the label by which a creation is found again
    (
        r#""portico_request": ?"[^"]+""#,
        r#""portico_request":"[request]""#,
    ),
    // namespaces of `portico cluster validate`, and how long an API server took to answer
    (
        r"\bportico-validate-[0-9a-f]{8}\b",
        "portico-validate-[random]",
    ),
    (r"\([0-9]+ ms\)", "([duration])"),
    // temporary directories
    (r#"/[^\s:,'"`]*\.tmp[A-Za-z0-9]{6}\b"#, "[directory]"),
    // icons, of which only the presence matters to a reader
    ("(?s)<svg .*?</svg>", "<svg/>"),
];

/// Returns the settings of insta for snapshots of what has values of a single run, such as request
/// IDs, ports and times: bind them around the assertion. The keys of JSON are sorted, since their order
/// depends on the features with which `serde_json` is built.
#[must_use]
pub fn snapshot_settings() -> Settings {
    let mut settings = Settings::clone_current();
    settings.set_sort_maps(true);
    for (pattern, replacement) in VARIABLE {
        settings.add_filter(pattern, *replacement);
    }
    settings
}

/// Returns HTML with a line for each tag, so that a difference of two snapshots shows what changed.
#[must_use]
pub fn html_lines(html: &str) -> String {
    html.replace("><", ">\n<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_single_run_are_replaced_and_others_are_kept() {
        let text = r#"
<input type="hidden" name="csrf_token" value="a1B2-_c3">
<input type="hidden" name="rd" value="/projects/p1">
<code>WDJB-MJHT</code>
<p>Request <code>0b2f6c4e-6f0a-4a51-8c53-3f8a3a3a0f0e</code></p>
  "request_id": "0b2f6c4e-6f0a-4a51-8c53-3f8a3a3a0f0e",
<time datetime="2026-11-21T11:13:55Z">2026-11-21 11:13 UTC</time> (just now)
<li aria-labelledby="session-0b2f6c4e-6f0a-4a51-8c53-3f8a3a3a0f0e">
<button aria-label="End session: Firefox, signed in 2026-11-21 11:13 UTC">
<link href="/oauth2/static/portico.css?v=0123456789ab">
http://127.0.0.1:41234/v3, http://127.0.0.1:9/v3
/tmp/.tmpAb12Cd/portico.toml: line 3
portico-validate-0123abcd answers (12 ms)
<svg viewBox="0 0 24 24"><path d="m9 12 2 2 4-4"/></svg>
900e3758-8071-430e-a8cf-5c48f428dc0e  2026-11-21T11:13:55Z
"#;
        snapshot_settings().bind(|| {
            insta::assert_snapshot!(text.trim(), @r#"
            <input type="hidden" name="csrf_token" value="[csrf_token]">
            <input type="hidden" name="rd" value="/projects/p1">
            <code>[user code]</code>
            <p>Request <code>[request ID]</code></p>
              "request_id": "[request ID]",
            <time datetime="[time]">[time]</time> ([duration] ago)
            <li aria-labelledby="session-[session ID]">
            <button aria-label="End session: Firefox, signed in [time]">
            <link href="/oauth2/static/portico.css?v=[hash]">
            http://127.0.0.1:[port]/v3, http://127.0.0.1:9/v3
            [directory]/portico.toml: line 3
            portico-validate-[random] answers ([duration])
            <svg/>
            900e3758-8071-430e-a8cf-5c48f428dc0e  2026-11-21T11:13:55Z
            "#);
        });
    }
}
