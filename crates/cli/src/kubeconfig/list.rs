//! `portico kubeconfig list`.
use super::document::{CLUSTERS, Document, USERS};
use super::entry::is_ours;
use crate::{CommandError, terminal::one_line};
use serde_norway::Value;
use std::path::PathBuf;

const HEADINGS: [&str; 4] = ["CONTEXT", "SERVER", "TOKENS FROM", "FILE"];

/// Returns the contexts that Portico wrote, as a table.
pub fn list(files: &[PathBuf]) -> Result<String, CommandError> {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    for path in files {
        let document = Document::read(path)?;
        for context in document.contexts() {
            if !is_ours(&context.user) {
                continue;
            }
            let current = document.current_context() == Some(&context.name);
            let mark = if current { " (in use)" } else { "" };
            let server = document.get(CLUSTERS, &context.cluster);
            let server = server.and_then(|cluster| cluster.get("server"));
            rows.push([
                format!("{}{mark}", context.name),
                server.and_then(Value::as_str).unwrap_or("-").to_owned(),
                tokens_from(document.get(USERS, &context.user)),
                path.display().to_string(),
            ]);
        }
    }
    if rows.len() == 1 {
        return Ok("No context was written by Portico yet.\n".to_owned());
    }
    Ok(table(&rows))
}

/// Returns the gateway or the cloud in the plugin's arguments.
fn tokens_from(user: Option<&Value>) -> String {
    let arguments: Vec<&str> = user
        .and_then(|user| user.get("exec")?.get("args")?.as_sequence())
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| *argument == flag)?;
        arguments.get(at + 1).copied()
    };
    match (after("--gateway"), after("--cloud")) {
        (Some(gateway), _) => gateway.to_owned(),
        (None, Some(cloud)) => format!("cloud {cloud}"),
        (None, None) => "-".to_owned(),
    }
}

fn table(rows: &[[String; 4]]) -> String {
    let mut widths = [0; 4];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(one_line(cell).chars().count());
        }
    }
    let mut out = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{:width$}", one_line(cell)))
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_portico_wrote_is_listed_and_nothing_acts_on_the_terminal() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config");
        std::fs::write(
            &path,
            "current-context: prod\ncontexts:\n\
             - {name: \"prod\", context: {cluster: c, user: portico/h/prod}}\n\
             - {name: \"e\\e[2Jvil\", context: {cluster: c, user: portico/h/evil}}\n\
             - {name: mine, context: {cluster: c, user: mine}}\n\
             clusters: [{name: c, cluster: {server: https://a}}]\n\
             users: [{name: portico/h/prod, user: {exec: {args: [credential, --cloud, acme]}}}]\n",
        )
        .unwrap();
        let text = list(&[path]).unwrap();
        assert!(
            text.contains("prod (in use)") && text.contains("cloud acme"),
            "{text}"
        );
        assert!(!text.contains("mine") && !text.contains('\u{1b}'), "{text}");
    }
}
