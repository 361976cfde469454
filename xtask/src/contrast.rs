//! Tests of `style/tokens.css`: the contrasts that WCAG 2.2 asks for, in both schemes.
use std::collections::BTreeMap;

const TOKENS: &str = include_str!("../../style/tokens.css");

/// Text at 4.5:1 (1.4.3): the text, and the backgrounds that it is shown on.
const TEXTS: [(&str, &[&str]); 18] = [
    (
        "text",
        &[
            "bg",
            "surface",
            "raised",
            "sunken",
            "hover",
            "selected",
            "code-bg",
            "selection",
        ],
    ),
    (
        "text",
        &["ok-bg", "warn-bg", "bad-bg", "info-bg", "idle-bg"],
    ),
    (
        "text-muted",
        &[
            "bg", "surface", "raised", "sunken", "hover", "selected", "code-bg",
        ],
    ),
    ("text-muted", &["warn-bg", "bad-bg", "info-bg", "idle-bg"]),
    (
        "text-faint",
        &["bg", "surface", "raised", "sunken", "hover", "selected"],
    ),
    (
        "accent",
        &[
            "bg", "surface", "raised", "sunken", "hover", "selected", "info-bg", "warn-bg",
            "bad-bg",
        ],
    ),
    ("ok", &["bg", "surface", "hover", "selected", "ok-bg"]),
    ("warn", &["bg", "surface", "hover", "selected", "warn-bg"]),
    ("bad", &["bg", "surface", "hover", "selected", "bad-bg"]),
    ("info", &["bg", "surface", "hover", "selected", "info-bg"]),
    ("idle", &["bg", "surface", "hover", "selected", "idle-bg"]),
    (
        "on-solid",
        &[
            "accent-solid",
            "accent-solid-hover",
            "bad-solid",
            "bad-solid-hover",
        ],
    ),
    ("terminal-text", &["terminal-bg", "selection", "log-match"]),
    ("syntax-key", &SYNTAX_BACKGROUNDS),
    ("syntax-string", &SYNTAX_BACKGROUNDS),
    ("syntax-number", &SYNTAX_BACKGROUNDS),
    ("syntax-keyword", &SYNTAX_BACKGROUNDS),
    ("syntax-comment", &SYNTAX_BACKGROUNDS),
];

/// The editor's text, its current line and search matches, inserted and deleted lines. Selected text
/// has the colour of `text`.
const SYNTAX_BACKGROUNDS: [&str; 5] = ["surface", "hover", "warn-bg", "ok-bg", "bad-bg"];

/// Parts of controls and graphics at 3:1 (1.4.11).
const PARTS: [(&str, &[&str]); 6] = [
    ("line-strong", &["bg", "surface", "raised"]),
    (
        "focus",
        &[
            "bg",
            "surface",
            "raised",
            "sunken",
            "hover",
            "selected",
            "terminal-bg",
        ],
    ),
    ("meter", &["surface", "idle-bg"]),
    ("warn-solid", &["surface", "idle-bg"]),
    ("bad-solid", &["surface", "idle-bg"]),
    ("accent-solid", &["bg", "surface", "raised"]),
];

type Colours = BTreeMap<String, [f64; 2]>;

/// Returns the relative luminance of each colour token of a block, in the light and the dark scheme.
fn colours(block: &str) -> Colours {
    // from the last dashes on: a comment may come before
    let declarations = block
        .split(';')
        .filter_map(|text| text.rsplit_once("--")?.1.split_once(':'));
    declarations
        .filter_map(|(name, value)| {
            let name = name.trim().to_owned();
            let value = value.trim();
            let both = match value.strip_prefix("light-dark(") {
                Some(pair) => {
                    let (light, dark) = pair.strip_suffix(')')?.split_once(',')?;
                    [luminance(light)?, luminance(dark)?]
                }
                None => [luminance(value)?; 2],
            };
            Some((name, both))
        })
        .collect()
}

/// Returns the relative luminance of `#rrggbb`; `None` for anything else.
fn luminance(colour: &str) -> Option<f64> {
    let digits = colour
        .trim()
        .strip_prefix('#')
        .filter(|digits| digits.len() == 6)?;
    let channel = |at: usize| {
        let value = u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()?;
        let value = f64::from(value) / 255.0;
        Some(if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        })
    };
    Some(0.2126 * channel(0)? + 0.7152 * channel(2)? + 0.0722 * channel(4)?)
}

fn contrast(one: f64, other: f64) -> f64 {
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Returns the block of declarations after a selector or an at-rule.
fn block(before: &str) -> &'static str {
    let (_, rest) = TOKENS.split_once(before).unwrap_or_default();
    rest.split('}').next().unwrap_or_default()
}

fn usual() -> Colours {
    colours(block(":root {"))
}

fn more_contrast() -> Colours {
    let mut all = usual();
    all.extend(colours(block(
        "@media (prefers-contrast: more) {\n  :root {",
    )));
    all
}

/// Returns the pairs below a contrast, in words.
fn too_faint(colours: &Colours, pairs: &[(&str, &[&str])], least: f64) -> Vec<String> {
    let mut found = Vec::new();
    for (front, backs) in pairs {
        for back in *backs {
            let (Some(one), Some(other)) = (colours.get(*front), colours.get(*back)) else {
                found.push(format!("{front} on {back}: there is no such token"));
                continue;
            };
            for (scheme, (one, other)) in ["light", "dark"].iter().zip(one.iter().zip(other)) {
                let ratio = contrast(*one, *other);
                if ratio < least {
                    found.push(format!("{front} on {back}, {scheme}: {ratio:.2}"));
                }
            }
        }
    }
    found
}

#[test]
fn contrast_is_computed_as_in_wcag() {
    let of = |one, other| Some(contrast(luminance(one)?, luminance(other)?));
    assert_eq!(of("#000000", "#ffffff"), Some(21.0));
    let grey = of("#777777", "#ffffff").unwrap_or_default();
    assert!((grey - 4.48).abs() < 0.01, "{grey}");
}

#[test]
fn text_reaches_4_5_to_1_in_both_schemes() {
    assert_eq!(too_faint(&usual(), &TEXTS, 4.5), Vec::<String>::new());
}

#[test]
fn controls_and_the_focus_ring_reach_3_to_1_in_both_schemes() {
    assert_eq!(too_faint(&usual(), &PARTS, 3.0), Vec::<String>::new());
}

#[test]
fn with_more_contrast_text_reaches_7_to_1_and_controls_4_5() {
    let colours = more_contrast();
    let text = [
        (
            "text",
            ["bg", "surface", "raised", "sunken", "hover"].as_slice(),
        ),
        (
            "text-muted",
            ["bg", "surface", "raised", "sunken", "hover"].as_slice(),
        ),
        (
            "text-faint",
            ["bg", "surface", "raised", "sunken"].as_slice(),
        ),
        ("accent", ["bg", "surface", "raised", "sunken"].as_slice()),
        ("syntax-key", SYNTAX_BACKGROUNDS.as_slice()),
        ("syntax-string", SYNTAX_BACKGROUNDS.as_slice()),
        ("syntax-number", SYNTAX_BACKGROUNDS.as_slice()),
        ("syntax-keyword", SYNTAX_BACKGROUNDS.as_slice()),
        ("syntax-comment", SYNTAX_BACKGROUNDS.as_slice()),
    ];
    assert_eq!(too_faint(&colours, &text, 7.0), Vec::<String>::new());
    let parts = [
        ("line", ["bg", "surface"].as_slice()),
        ("line-strong", ["bg", "surface"].as_slice()),
        ("focus", ["bg", "surface"].as_slice()),
    ];
    assert_eq!(too_faint(&colours, &parts, 4.5), Vec::<String>::new());
    assert_eq!(too_faint(&colours, &TEXTS, 4.5), Vec::<String>::new());
    assert_eq!(too_faint(&colours, &PARTS, 3.0), Vec::<String>::new());
}

#[test]
fn only_the_tokens_have_colours() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../style");
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if file.file_name() == "tokens.css" {
            continue;
        }
        let text = std::fs::read_to_string(file.path()).unwrap_or_default();
        for line in text.lines() {
            let value = line.split_once(": ").map_or("", |(_, value)| value);
            if ["#", "rgb", "hsl", "oklch", "light-dark("]
                .iter()
                .any(|sign| value.contains(sign))
            {
                found.push(format!("{}: {}", file.file_name().display(), line.trim()));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
