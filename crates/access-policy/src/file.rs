//! Reads `apps.rules_file`: rules and their tests in a separate file.
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use toml::Spanned;

use super::{app::AppPolicy, error::RulesError, model::RuleConfig, test_case::CaseConfig};

const MAX_FILE_BYTES: usize = 1 << 20;

/// The hash of a file when it was read, to detect changes.
pub type FileHash = [u8; 32];

/// A rules file as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    #[serde(default)]
    rules: Vec<Spanned<RuleConfig>>,
    #[serde(default)]
    tests: Vec<Spanned<CaseConfig>>,
}

/// A valid rules file.
#[derive(Clone, Debug, Default)]
pub(super) struct RulesFile {
    pub rules: Vec<RuleConfig>,
    pub tests: Vec<CaseConfig>,
    lines_of_rules: Vec<usize>,
    lines_of_tests: Vec<usize>,
}

/// Reads the bytes of a rules file.
pub fn read(app: &AppPolicy, path: &Path) -> Result<Vec<u8>, RulesError> {
    std::fs::read(path).map_err(|source| RulesError::Unreadable {
        app: app.id.clone(),
        path: path.to_owned(),
        source,
    })
}

pub fn hash(bytes: &[u8]) -> FileHash {
    Sha256::digest(bytes).into()
}

impl RulesFile {
    pub fn parse(app: &AppPolicy, path: &Path, bytes: &[u8]) -> Result<Self, RulesError> {
        let fault = |line, message: &str| RulesError::File {
            app: app.id.clone(),
            path: path.to_owned(),
            line,
            message: message.to_owned(),
        };
        if bytes.len() > MAX_FILE_BYTES {
            return Err(fault(None, "it is larger than 1 MiB"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| fault(None, "it is not UTF-8"))?;
        let line_of = |at: usize| text.bytes().take(at).filter(|b| *b == b'\n').count() + 1;
        let parsed: Text = toml::from_str(text).map_err(|error| {
            fault(
                error.span().map(|span| line_of(span.start)),
                error.message(),
            )
        })?;
        if parsed.rules.is_empty() {
            // an emptied file must not permit what its rules refused
            return Err(fault(
                None,
                "it holds no [[rules]]; take rules_file out where none are wanted",
            ));
        }
        let lines = |spans: Vec<usize>| spans.into_iter().map(line_of).collect();
        Ok(Self {
            lines_of_rules: lines(parsed.rules.iter().map(|one| one.span().start).collect()),
            lines_of_tests: lines(parsed.tests.iter().map(|one| one.span().start).collect()),
            rules: parsed.rules.into_iter().map(Spanned::into_inner).collect(),
            tests: parsed.tests.into_iter().map(Spanned::into_inner).collect(),
        })
    }

    pub fn line_of_rule(&self, index: usize) -> Option<usize> {
        self.lines_of_rules.get(index).copied()
    }

    pub fn line_of_test(&self, index: usize) -> Option<usize> {
        self.lines_of_tests.get(index).copied()
    }
}
