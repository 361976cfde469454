//! Prints findings, as lines or as one JSON object, and derives the exit code.
use super::fault::Fault;
use super::finding::{Finding, Status};
use crate::cli::error::CliError;
use crate::cli::print;
use crate::config::Role;
use anyhow::Context as _;
use portico_cli::{exit_code::BAD_CONFIGURATION, printable};
use serde::Serialize;
use std::process::ExitCode;
use url::Url;

const PAGE: &str = "reference/doctor";

/// The findings of a run.
pub(super) struct Report {
    json: bool,
    /// The URL at which the documentation is published.
    docs_url: Option<Url>,
    roles: Vec<String>,
    findings: Vec<Finding>,
}

/// What `--json` prints; `docs/reference/doctor.md` describes it.
#[derive(Serialize)]
struct Output<'r> {
    version: &'static str,
    roles: &'r [String],
    errors: usize,
    warnings: usize,
    findings: &'r [Finding],
}

impl Report {
    pub fn new(json: bool, docs_url: Option<Url>, roles: &[Role]) -> Self {
        Self {
            json,
            docs_url,
            roles: roles.iter().map(ToString::to_string).collect(),
            findings: Vec::new(),
        }
    }

    /// Adds findings; without `--json` they are printed at once.
    pub fn add(&mut self, findings: Vec<Finding>) -> Result<(), CliError> {
        for mut finding in findings {
            finding.docs = finding.fault.map(|fault| self.docs(fault));
            if !self.json {
                print(&line(&finding))?;
            }
            self.findings.push(finding);
        }
        Ok(())
    }

    /// Prints the rest and returns the exit code.
    pub fn finish(self) -> Result<ExitCode, CliError> {
        let errors = self.count(Status::Error);
        let warnings = self.count(Status::Warning);
        if self.json {
            let output = Output {
                version: env!("CARGO_PKG_VERSION"),
                roles: &self.roles,
                errors,
                warnings,
                findings: &self.findings,
            };
            let text = serde_json::to_string_pretty(&output).context("print the findings")?;
            print(&format!("{text}\n"))?;
        } else {
            let summary = match errors {
                0 => "Nothing is broken".to_owned(),
                count => format!("{count} broken"),
            };
            let warnings = match warnings {
                1 => "1 warning".to_owned(),
                count => format!("{count} warnings"),
            };
            print(&format!("\n{summary}, {warnings}.\n"))?;
        }
        let unusable = |finding: &Finding| finding.fault == Some(Fault::ConfigurationInvalid);
        Ok(if self.findings.iter().any(unusable) {
            ExitCode::from(BAD_CONFIGURATION)
        } else if errors > 0 {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }

    fn count(&self, status: Status) -> usize {
        let findings = self.findings.iter();
        findings.filter(|finding| finding.status == status).count()
    }

    fn docs(&self, fault: Fault) -> String {
        let id = fault.id();
        match &self.docs_url {
            Some(url) => {
                let base = url.as_str().trim_end_matches('/');
                format!("{base}/{PAGE}.html#{id}")
            }
            None => format!("docs/{PAGE}.md#{id}"),
        }
    }
}

fn line(finding: &Finding) -> String {
    let state = match finding.status {
        Status::Ok => "ok   ",
        Status::Warning => "warn ",
        Status::Error => "ERROR",
    };
    // messages quote what servers sent
    let subject = printable(&finding.subject);
    let message = printable(&finding.message);
    let mut text = format!("{state}  {subject:<22} {message}");
    if finding.fault.is_some() {
        text.push_str(&format!(" [{}]", finding.id));
    }
    text.push('\n');
    if let Some(remedy) = &finding.remedy {
        text.push_str(&format!("{:>28}  {remedy}\n", "->"));
    }
    text
}
