//! `portico kube-auth policy lint|explain|test`.
use super::arguments::{ExplainArgs, PolicyCommand};
use super::error::CliError;
use super::{line, print, read_text};
use anyhow::Context as _;
use portico_kube_auth::policy::{Case, CaseRole, CaseUser, MAX_BYTES, Policy, Severity, Step};
use std::path::Path;
use std::process::ExitCode;

pub(super) fn policy(command: &PolicyCommand) -> Result<ExitCode, CliError> {
    match command {
        PolicyCommand::Lint { file, strict } => lint(file, *strict),
        PolicyCommand::Explain(arguments) => explain(arguments),
        PolicyCommand::Test { file, cases } => test(file, cases),
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    read_text(path, MAX_BYTES as u64)
}

fn load(path: &Path) -> anyhow::Result<Policy> {
    Policy::parse(&read(path)?).with_context(|| format!("{}", path.display()))
}

pub(super) fn code(failed: bool) -> ExitCode {
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn lint(file: &Path, strict: bool) -> Result<ExitCode, CliError> {
    let policy = load(file)?;
    let found = policy.lint();
    let warnings = found
        .iter()
        .filter(|one| one.severity == Severity::Warning)
        .count();
    let mut text = String::new();
    for one in &found {
        line(&mut text, format_args!("{one}"));
    }
    line(
        &mut text,
        format_args!("{} rules, {warnings} warnings", policy.len()),
    );
    print(&text)?;
    Ok(code(strict && warnings > 0))
}

fn explain(arguments: &ExplainArgs) -> Result<ExitCode, CliError> {
    let policy = load(&arguments.file)?;
    let names = arguments
        .roles
        .iter()
        .map(|name| (String::new(), name.clone()));
    let ids = arguments
        .role_ids
        .iter()
        .map(|id| (id.clone(), String::new()));
    let user = CaseUser {
        id: arguments.user_id.clone(),
        name: arguments.user.clone(),
        roles: names
            .chain(ids)
            .map(|(id, name)| CaseRole { id, name })
            .collect(),
        project: Some(CaseRole {
            id: arguments.project.clone(),
            name: arguments.project_name.clone(),
        }),
        groups: Vec::new(),
    };
    let attributes = Case::request(
        &user,
        &arguments.verb,
        &arguments.target,
        &arguments.namespace,
        &arguments.name,
    );
    let mut text = String::new();
    for (index, step) in policy.steps(&attributes).enumerate() {
        let what = match step {
            Step::OtherUser => "is for other users",
            Step::OtherRequest => "does not match the request",
            Step::Allows => "allows it",
        };
        let rule = policy.describe(index);
        line(
            &mut text,
            format_args!("rule {} ({rule}) {what}", index + 1),
        );
    }
    let decision = policy.decide(&attributes);
    let outcome = match decision.allowed_by {
        Some(rule) => format!("allowed by rule {rule}"),
        None => "no opinion: the cluster's other authorizers, usually RBAC, decide".to_owned(),
    };
    line(&mut text, format_args!("{attributes}: {outcome}"));
    print(&text)?;
    Ok(code(!decision.allowed()))
}

fn test(file: &Path, cases: &Path) -> Result<ExitCode, CliError> {
    let policy = load(file)?;
    let cases = Case::parse_all(&read(cases)?).with_context(|| format!("{}", cases.display()))?;
    let mut text = String::new();
    let mut failed = 0;
    for case in &cases {
        let decision = policy.decide(&case.attributes());
        if decision.allowed() == case.allowed {
            continue;
        }
        failed += 1;
        let found = match decision.allowed_by {
            Some(rule) => format!("allowed by rule {rule}"),
            None => "not allowed".to_owned(),
        };
        line(
            &mut text,
            format_args!("failed: {}: {} is {found}", case.name, case.attributes()),
        );
    }
    line(
        &mut text,
        format_args!("{} expectations, {failed} failed", cases.len()),
    );
    print(&text)?;
    Ok(code(failed > 0))
}
