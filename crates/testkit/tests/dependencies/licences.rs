//! Every dependency has a licence under which Portico can be distributed under Apache-2.0.
use crate::graph::Graph;
use std::{iter::Peekable, vec::IntoIter};

/// Licences that may be relied on, and what each asks for. Of alternatives, one must be in the list.
const ALLOWED: &[(&str, &str)] = &[
    ("Apache-2.0", "that of Portico"),
    ("MIT", "permissive: its notice stays with copies"),
    (
        "Apache-2.0 WITH LLVM-exception",
        "Apache-2.0, with an exception that only permits more",
    ),
    ("BSD-3-Clause", "permissive: its notice stays with copies"),
    ("ISC", "permissive: its notice stays with copies"),
    ("Zlib", "permissive: changed sources are marked as such"),
    ("BSL-1.0", "permissive: binaries need no notice"),
    ("CC0-1.0", "public domain"),
    ("Unicode-3.0", "for tables made from Unicode's data"),
    (
        "CDLA-Permissive-2.0",
        "for data: Mozilla's list of certificate authorities",
    ),
];

type Words<'a> = Peekable<IntoIter<&'a str>>;

/// Returns whether a licence expression (SPDX, or the older form with slashes) can be met with the
/// licences of a list.
fn is_met(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut words = words.into_iter().peekable();
    let is_met = any(&mut words, allowed);
    assert_eq!(words.next(), None, "the end of {expression}");
    is_met
}

fn any(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut is_met = all(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        is_met |= all(words, allowed);
    }
    is_met
}

fn all(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut is_met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        is_met &= one(words, allowed);
    }
    is_met
}

fn one(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let name = words.next().expect("a licence");
    if name == "(" {
        let is_met = any(words, allowed);
        assert_eq!(words.next(), Some(")"));
        return is_met;
    }
    if words.next_if_eq(&"WITH").is_none() {
        return allowed.contains(&name);
    }
    let exception = words.next().expect("an exception");
    allowed.contains(&format!("{name} WITH {exception}").as_str())
}

fn unmet(graph: &Graph, allowed: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    for package in graph.packages.values() {
        let licence = package.licence.as_deref();
        if !licence.is_some_and(|licence| is_met(licence, allowed)) {
            faults.push(format!(
                "{} {}: {}",
                package.name,
                package.version,
                licence.unwrap_or("no licence")
            ));
        }
    }
    faults
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let allowed: Vec<&str> = ALLOWED.iter().map(|(licence, _)| *licence).collect();
    let faults = unmet(&Graph::load(), &allowed);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_allowed_licence_is_needed() {
    let graph = Graph::load();
    for (licence, _) in ALLOWED {
        let others = ALLOWED.iter().map(|(other, _)| *other);
        let others: Vec<&str> = others.filter(|other| other != licence).collect();
        assert!(
            !unmet(&graph, &others).is_empty(),
            "no dependency needs {licence}: remove it from the list"
        );
    }
}

#[test]
fn a_licence_expression_is_met_by_one_alternative_with_all_its_parts() {
    let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("MIT/Apache-2.0", true),
        ("Apache-2.0 / MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("GPL-3.0 AND Unicode-3.0 OR MIT", true),
        ("Apache-2.0", false),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true),
    ] {
        assert_eq!(is_met(expression, &allowed), expected, "{expression}");
    }
}
