//! Finds the SQL statements in the sources of the store.
//!
//! A statement is a text that begins with an SQL verb. The calls that run statements take one as a text,
//! or as a variable of the function that has the text: so there is none that is not found.
use proc_macro2::{TokenStream, TokenTree};
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};
use syn::{
    Attribute, Expr, ExprCall, ExprLit, Ident, ImplItemFn, ItemConst, ItemFn, ItemMod, Lit, LitStr,
    Macro,
    visit::{self, Visit},
};

const VERBS: [&str; 5] = ["DELETE", "INSERT", "SELECT", "UPDATE", "WITH"];

/// The functions of sqlx that take a statement.
const CALLS: [&str; 7] = [
    "query",
    "query_as",
    "query_as_with",
    "query_scalar",
    "query_scalar_with",
    "query_with",
    "raw_sql",
];

pub struct Statement {
    /// Below the folder of sources.
    pub file: String,
    pub sql: String,
}

/// The files, with what was found in each.
type Files = BTreeMap<String, Collector>;

/// Returns the statements in all sources but their tests.
pub fn statements() -> Vec<Statement> {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let mut statements = Vec::new();
    let mut faults = Vec::new();
    for (file, found) in &files {
        faults.extend(found.faults.iter().map(|fault| format!("{file}: {fault}")));
        for template in &found.statements {
            match complete(file, template, &files) {
                Ok(sql) => statements.push(Statement {
                    file: file.clone(),
                    sql,
                }),
                Err(part) => faults.push(format!(
                    "{file}: {{{part}}} is not one constant: add what it stands for to `assembled`\n{template}"
                )),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(
        statements.len() >= 100,
        "{} statements were found",
        statements.len()
    );
    statements
}

fn files(folder: &Path) -> Files {
    let mut files = Files::new();
    for entry in walkdir::WalkDir::new(folder) {
        let path: PathBuf = entry.unwrap().into_path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let relative = path.strip_prefix(folder).unwrap().to_str().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            files.insert(relative.to_owned(), Collector::of(&text));
        }
    }
    files
}

/// Returns a statement with the constants and other parts that its text names in braces.
///
/// # Errors
/// The name of a part that is not known.
fn complete(file: &str, template: &str, files: &Files) -> Result<String, String> {
    let mut sql = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or("an open brace")?;
        let part = constant(file, name, files).or_else(|| assembled(file, name, files));
        sql.push_str(before);
        sql.push_str(&part.ok_or(name)?);
        rest = after;
    }
    sql.push_str(rest);
    Ok(sql)
}

/// Returns the constant of that name of the file, or the only one of the files beside it.
fn constant(file: &str, name: &str, files: &Files) -> Option<String> {
    if let Some(own) = files[file].constants.get(name) {
        return Some(own.clone());
    }
    let folder = Path::new(file).parent();
    let mut others = files
        .iter()
        .filter(|(other, _)| Path::new(other).parent() == folder)
        .filter_map(|(_, found)| found.constants.get(name));
    let only = others.next();
    only.filter(|_| others.next().is_none()).cloned()
}

/// Returns a part that code assembles, as it is when it is longest.
fn assembled(file: &str, name: &str, files: &Files) -> Option<String> {
    match (file, name) {
        ("sql/audit.rs", "conditions") => Some(audit_conditions(files).0),
        ("sql/audit.rs", "limit_at") => Some((audit_conditions(files).1 + 1).to_string()),
        ("sql/audit.rs", "direction") => Some("DESC".to_owned()),
        ("sql/namespace_candidates.rs", "places") => Some("$2, $3".to_owned()),
        _ => None,
    }
}

/// Returns all conditions that a filter of the audit log can set, and the number of their values.
fn audit_conditions(files: &Files) -> (String, usize) {
    let texts = &files["sql/audit_filter.rs"].texts;
    let mut sql = "sequence IS NOT NULL".to_owned();
    let mut values = 0;
    for condition in texts.iter().filter(|text| text.contains('?')) {
        sql.push_str(" AND ");
        for (at, part) in condition.split('?').enumerate() {
            if at > 0 {
                values += 1;
                write!(sql, "${values}").unwrap();
            }
            sql.push_str(part);
        }
    }
    assert!(values >= 10, "{values} values of conditions: {sql}");
    (sql, values)
}

/// What a file has.
#[derive(Default)]
struct Collector {
    statements: Vec<String>,
    /// All texts.
    texts: Vec<String>,
    constants: BTreeMap<String, String>,
    faults: Vec<String>,
    function: Function,
}

/// What the function that is visited has.
#[derive(Default)]
struct Function {
    /// Statements that are not themselves arguments of a call.
    texts: usize,
    /// Calls with a variable.
    calls: usize,
}

impl Collector {
    fn of(text: &str) -> Self {
        let mut collector = Self::default();
        collector.visit_file(&syn::parse_file(text).unwrap());
        collector
    }

    fn note_text(&mut self, text: String) {
        if is_statement(&text) {
            self.statements.push(text.clone());
            self.function.texts += 1;
        }
        self.texts.push(text);
    }

    fn note_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.note_tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<LitStr>(&literal.to_string()) {
                        self.note_text(text.value());
                    }
                }
                _ => {}
            }
        }
    }

    fn in_function(&mut self, name: &Ident, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.function);
        visit(self);
        let function = std::mem::replace(&mut self.function, outer);
        if function.calls > 0 && function.texts == 0 {
            self.faults.push(format!(
                "{name} runs a statement whose text is in another function"
            ));
        }
    }

    fn note_argument(&mut self, argument: &Expr) {
        match argument {
            Expr::Reference(reference) => self.note_argument(&reference.expr),
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) if is_statement(&text.value()) => self.statements.push(text.value()),
            Expr::Path(path) if path.path.get_ident().is_some() => self.function.calls += 1,
            _ => self.faults.push(
                "a call of sqlx takes neither a text that begins with an SQL verb nor a variable"
                    .to_owned(),
            ),
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    // documentation
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_const(&mut self, item: &'ast ItemConst) {
        if let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = &*item.expr
        {
            self.constants.insert(item.ident.to_string(), text.value());
        }
        visit::visit_item_const(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.in_function(&item.sig.ident, |this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.in_function(&item.sig.ident, |this| {
            visit::visit_impl_item_fn(this, item);
        });
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        match (&*call.func, call.args.first()) {
            (Expr::Path(function), Some(argument)) if is_of_sqlx(&function.path) => {
                self.note_argument(argument);
            }
            _ => visit::visit_expr_call(self, call),
        }
    }

    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        self.note_text(text.value());
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.note_tokens(call.tokens.clone());
    }
}

fn is_statement(text: &str) -> bool {
    let mut words = text.split_whitespace();
    words.next().is_some_and(|word| VERBS.contains(&word)) && words.next().is_some()
}

fn is_of_sqlx(path: &syn::Path) -> bool {
    let mut names = path.segments.iter().map(|segment| &segment.ident);
    let is_ours = path.segments.len() == 1 || names.next().is_some_and(|first| first == "sqlx");
    is_ours
        && path
            .segments
            .last()
            .is_some_and(|last| CALLS.iter().any(|call| last.ident == call))
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<Ident>()
                .is_ok_and(|condition| condition == "test")
    })
}

#[test]
fn statements_are_found_in_every_form() {
    let found = Collector::of(
        r#"
        /// SELECT no documentation
        const COLUMNS: &str = "a, b";
        const STATEMENTS: [&str; 1] = ["DELETE FROM first"];
        impl Store {
            async fn f(&self) {
                sqlx::query("SELECT second FROM t").bind(1);
                sqlx::query_scalar::<_, i64>("SELECT third FROM t");
            }
        }
        fn g() {
            let query = format!("UPDATE fourth SET {COLUMNS}");
            sqlx::query(&query);
            warn!("Updated");
        }
        #[cfg(test)]
        mod tests { const NO: &str = "SELECT no FROM t"; }
        "#,
    );
    let expected = [
        "DELETE FROM first",
        "SELECT second FROM t",
        "SELECT third FROM t",
        "UPDATE fourth SET {COLUMNS}",
    ];
    assert_eq!(found.statements, expected);
    assert_eq!(found.faults, [""; 0]);
    let files = Files::from([("f.rs".to_owned(), found)]);
    let complete = complete("f.rs", expected[3], &files);
    assert_eq!(complete.as_deref(), Ok("UPDATE fourth SET a, b"));
}

#[test]
fn a_call_whose_statement_is_elsewhere_is_a_fault() {
    for body in [
        "sqlx::query(&query)",
        "sqlx::query(statement())",
        "sqlx::query(\"PRAGMA x\")",
    ] {
        let found = Collector::of(&format!("fn f(query: &str) {{ {body}; }}"));
        assert_eq!(found.faults.len(), 1, "{body}: {:?}", found.faults);
    }
}
