//! Log events and spans of all programs use the same field names, so that one request ID or user
//! ID finds the entries of the gateway, the panel and kube-auth.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot continue has failed"
)]
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// The fields that join the entries of several programs, with the parts that must have them.
const SHARED: &[(&str, &[&str])] = &[
    (
        "request_id",
        &["gateway", "server", "crates/kube-auth", "crates/runtime"],
    ),
    ("user_id", &["gateway", "server", "crates/kube-auth"]),
    ("user_name", &["gateway", "server", "crates/kube-auth"]),
    ("session_id", &["gateway"]),
    ("project_id", &["gateway", "server"]),
    ("cluster_id", &["gateway", "server", "crates/kube-auth"]),
    ("upstream", &["gateway", "server", "crates/proxy"]),
    ("decision", &["gateway", "crates/kube-auth"]),
    ("reason", &["gateway", "crates/kube-auth", "crates/oidc"]),
    ("object", &["gateway", "server"]),
];

/// All other fields. Before adding one, look for an existing name of the same thing.
const OTHERS: &[&str] = &[
    // tracing's own name of the text of an event
    "message",
    // requests
    "asked",
    "client",
    "duration_ms",
    "host",
    "http.response.status_code",
    "method",
    "otel.kind",
    "path",
    "peer",
    "peer.service",
    "route",
    "rule",
    "status",
    // decisions and actions
    "access",
    "action",
    "cached",
    "credential_id",
    "domain",
    "event",
    "outcome",
    "provider",
    "subject_id",
    "token",
    // errors
    "cause",
    "code",
    "error",
    "next_step",
    "source",
    "warnings",
    // the program and its parts
    "address",
    "certificate",
    "endpoint",
    "file",
    "keys",
    "listener",
    "notice",
    "open_files",
    "operation",
    "pattern",
    "proxy",
    "role",
    "roles",
    "rules",
    "site_root",
    "tasks",
    "url",
    "version",
    // connections to other servers
    "backend",
    "hop",
    "issuer",
    "out_for",
    "seconds",
    "took",
    // objects and amounts
    "adopted",
    "clock_difference",
    "cluster_name",
    "days",
    "deleted",
    "difference",
    "expired_seconds_ago",
    "groups",
    "resource",
    "revoked",
    "suppressed",
    "total",
];

const EVENTS: [&str; 6] = ["trace", "debug", "info", "warn", "error", "event"];
/// Arguments of the macros that are not fields.
const SETTINGS: [&str; 3] = ["target", "parent", "name"];

/// Collects the fields of events and spans.
#[derive(Default)]
struct Collector(BTreeSet<String>);

impl Collector {
    /// Searches the arguments of a macro, in which other macros may be called.
    fn search(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = token else {
                continue;
            };
            match at.checked_sub(2).map(|from| &tokens[from..at]) {
                Some([TokenTree::Ident(name), TokenTree::Punct(mark)]) if mark.as_char() == '!' => {
                    self.note_call(&name.to_string(), group.stream());
                }
                _ => self.search(group.stream()),
            }
        }
    }

    fn note_call(&mut self, name: &str, arguments: TokenStream) {
        let is_span = name == "span" || name.ends_with("_span");
        if !is_span && !EVENTS.contains(&name) {
            self.search(arguments);
            return;
        }
        let arguments: Vec<TokenTree> = arguments.into_iter().collect();
        let is_comma =
            |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',');
        for argument in arguments.split(is_comma) {
            // an event's message, after which there are only its arguments; or the name of a span
            if !is_span && matches!(argument.first(), Some(TokenTree::Literal(_))) {
                break;
            }
            self.note_argument(argument);
        }
    }

    /// Records the field of an argument: `field = value`, or `%field` for a variable of that name.
    fn note_argument(&mut self, argument: &[TokenTree]) {
        let mut name = String::new();
        for token in argument {
            match token {
                TokenTree::Punct(mark)
                    if name.is_empty() && matches!(mark.as_char(), '%' | '?') => {}
                TokenTree::Punct(mark) if mark.as_char() == '.' => name.push('.'),
                TokenTree::Ident(ident) => name.push_str(&ident.to_string()),
                TokenTree::Punct(mark)
                    if mark.as_char() == '=' && mark.spacing() == Spacing::Alone =>
                {
                    break;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' && SETTINGS.contains(&&*name) => {
                    return;
                }
                // a level
                _ => return,
            }
        }
        if !name.is_empty() {
            self.0.insert(name);
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let name = call.path.segments.last().unwrap().ident.to_string();
        self.note_call(&name, call.tokens.clone());
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|condition| condition == "test")
    })
}

/// Returns the fields in the code of a file, without its tests.
fn fields(text: &str) -> BTreeSet<String> {
    let mut collector = Collector::default();
    collector.visit_file(&syn::parse_file(text).unwrap());
    collector.0
}

/// Returns the fields of each package, with the files that use them.
fn fields_of_packages() -> BTreeMap<String, BTreeMap<String, String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = BTreeMap::<String, BTreeMap<String, String>>::new();
    for folder in ["crates", "gateway", "server"] {
        for entry in walkdir::WalkDir::new(root.join(folder)).sort_by_file_name() {
            let path = entry.unwrap().into_path();
            let relative = path.strip_prefix(&root).unwrap().to_str().unwrap();
            let Some((package, file)) = relative.split_once("/src/") else {
                continue;
            };
            let is_test = ["crates/testkit", "crates/test-support"].contains(&package)
                || file.ends_with("tests.rs")
                || file.contains("tests/");
            if is_test || !file.ends_with(".rs") {
                continue;
            }
            for field in fields(&std::fs::read_to_string(&path).unwrap()) {
                let fields = all.entry(package.to_owned()).or_default();
                fields.insert(field, relative.to_owned());
            }
        }
    }
    all
}

#[test]
fn each_log_field_has_the_same_name_in_all_programs() {
    let packages = fields_of_packages();
    let mut used = BTreeSet::new();
    let mut faults = Vec::new();
    for (field, file) in packages.values().flatten() {
        used.insert(field.as_str());
        let is_known = OTHERS.contains(&&**field) || SHARED.iter().any(|(name, _)| name == field);
        if !is_known {
            faults.push(format!("{file}: {field} is not in the table"));
        }
    }
    for (field, parts) in SHARED {
        let missing = |part: &&&str| {
            !packages
                .get(**part)
                .is_some_and(|fields| fields.contains_key(*field))
        };
        faults.extend(
            parts
                .iter()
                .filter(missing)
                .map(|part| format!("{part}: no {field}")),
        );
    }
    let gone = OTHERS.iter().filter(|name| !used.contains(**name));
    faults.extend(gone.map(|name| format!("{name} is not used: remove it from the table")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn fields_are_found_in_every_form() {
    let text = r#"
        macro_rules! line { ($level:expr) => { tracing::event!(target: "x", parent: None, $level, first, "{}", no) }; }
        fn f() {
            tracing::info!(second = %no(1, 2), ?third, %fourth, fifth.part = no.no, "no = {}", no);
            select! { _ = a => { warn!(sixth, error = %super::Causes(no), "no") } }
            let span = tracing::info_span!("request", seventh = Empty);
        }
        #[cfg(test)]
        mod tests { fn g() { tracing::info!(no = 1); } }
    "#;
    let expected = [
        "error",
        "fifth.part",
        "first",
        "fourth",
        "second",
        "seventh",
        "sixth",
        "third",
    ];
    assert_eq!(fields(text), expected.map(str::to_owned).into());
}
