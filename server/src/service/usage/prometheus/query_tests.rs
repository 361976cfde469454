//! Every selector gets the restriction, and no value becomes syntax.
use super::*;
use promql_parser::label::Matchers;

/// Returns the matchers of every selector of a query.
fn selectors(query: &str) -> Vec<Matchers> {
    let mut found = Vec::new();
    let parsed = parser::parse(query).unwrap_or_else(|error| panic!("{query}: {error}"));
    collect(&parsed, &mut found);
    found
}

fn collect(expression: &Expr, found: &mut Vec<Matchers>) {
    match expression {
        Expr::VectorSelector(selector) => found.push(selector.matchers.clone()),
        Expr::MatrixSelector(matrix) => found.push(matrix.vs.matchers.clone()),
        Expr::Aggregate(aggregate) => {
            aggregate.param.iter().for_each(|one| collect(one, found));
            collect(&aggregate.expr, found);
        }
        Expr::Binary(binary) => {
            collect(&binary.lhs, found);
            collect(&binary.rhs, found);
        }
        Expr::Call(call) => call.args.args.iter().for_each(|one| collect(one, found)),
        Expr::Unary(unary) => collect(&unary.expr, found),
        Expr::Paren(group) => collect(&group.expr, found),
        Expr::Subquery(subquery) => collect(&subquery.expr, found),
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) | Expr::Extension(_) => {}
    }
}

fn shop() -> Restriction {
    Restriction::new(Some(("cluster", "prod")), "node").namespace("shop")
}

fn has(matchers: &Matchers, label: &str, value: &str) -> bool {
    let found = matchers.find_matchers(label);
    matches!(found.as_slice(), [one] if one.op == MatchOp::Equal && one.value == value)
}

#[test]
fn need_07_every_template_is_restricted_in_each_of_its_selectors() {
    for template in Template::ALL {
        let before = selectors(template.text()).len();
        let query = shop().apply(template).unwrap();
        let after = selectors(&query);
        assert_eq!(after.len(), before, "{query}");
        assert!(before > 0, "{query}");
        for matchers in after {
            assert!(has(&matchers, "cluster", "prod"), "{query}");
            assert!(has(&matchers, "namespace", "shop"), "{query}");
        }
    }
}

#[test]
fn a_query_with_several_selectors_gets_the_matcher_on_each() {
    for (query, count) in [
        ("a + b * on (pod) sum by (pod) (rate(c[5m]))", 3),
        // the parameter of an aggregation is an expression too
        ("topk(scalar(a), b)", 2),
        ("-(a offset 5m) > bool 1", 1),
        ("max_over_time(a[1h:1m])", 1),
        (
            r#"label_replace(a, "x", "$1", "y", "(.*)") or vector(1)"#,
            1,
        ),
    ] {
        let restricted = shop().apply_to(query).unwrap();
        let found = selectors(&restricted);
        assert_eq!(found.len(), count, "{restricted}");
        for matchers in found {
            assert!(has(&matchers, "namespace", "shop"), "{restricted}");
        }
    }
}

#[test]
fn a_name_with_quotes_stays_one_value() {
    for hostile in [
        r#"shop"} or secret{a=""#,
        r#"shop\"#,
        r#"shop\" or x{y=""#,
        "shop\n",
        "shop`{}",
        "",
    ] {
        let restriction = Restriction::new(None, "node").namespace(hostile);
        let query = restriction.apply(Template::PodsMemory).unwrap();
        let [matchers]: [Matchers; 1] = selectors(&query).try_into().unwrap();
        assert!(has(&matchers, "namespace", hostile), "{query}");
    }
}

#[test]
fn alternatives_within_a_selector_are_refused() {
    assert_eq!(
        shop().apply_to(r#"a{b="1" or c="2"}"#),
        Err(QueryError::Alternatives)
    );
}

#[test]
fn pods_are_matched_by_their_whole_names() {
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    let one = shop().pods(&names(&["web-0"])).unwrap();
    let query = one.apply(Template::ContainerMemory).unwrap();
    assert!(has(&selectors(&query)[0], "pod", "web-0"), "{query}");
    let two = shop().pods(&names(&["web.a-0", "web-1"])).unwrap();
    let query = two.apply(Template::ContainerCpu).unwrap();
    let [matcher]: [Matcher; 1] = selectors(&query)[0]
        .find_matchers("pod")
        .try_into()
        .unwrap();
    assert!(matcher.is_match("web.a-0") && matcher.is_match("web-1"));
    assert!(!matcher.is_match("webxa-0") && !matcher.is_match("web-10"));
}

#[test]
fn the_label_of_nodes_is_the_configured_one() {
    let restriction = Restriction::new(None, "instance").node("node-1");
    let query = restriction.apply(Template::NodesCpu).unwrap();
    assert_eq!(query.matches("by (instance)").count(), 2, "{query}");
    for matchers in selectors(&query) {
        assert!(has(&matchers, "instance", "node-1"), "{query}");
    }
}

#[test]
fn need_07_rows_of_several_namespaces_are_one_query_restricted_to_them() {
    let names = ["shop", "bank.eu"].map(str::to_owned);
    let all = Restriction::new(Some(("cluster", "prod")), "node");
    let restricted = all.namespaces(&names).unwrap();
    for template in [Template::EachPodCpu, Template::EachNamespaceMemory] {
        let query = restricted.apply(template).unwrap();
        let [matchers]: [Matchers; 1] = selectors(&query).try_into().unwrap();
        assert!(has(&matchers, "cluster", "prod"), "{query}");
        let [matcher]: [Matcher; 1] = matchers.find_matchers("namespace").try_into().unwrap();
        assert!(matcher.is_match("shop") && matcher.is_match("bank.eu"));
        assert!(!matcher.is_match("bankxeu") && !matcher.is_match("shop-2"));
        assert!(!matcher.is_match(""));
    }
}

#[test]
fn need_07_rows_of_nodes_have_the_configured_label() {
    let query = Restriction::new(None, "instance")
        .apply(Template::EachNodeMemory)
        .unwrap();
    assert_eq!(query.matches("by (instance)").count(), 2, "{query}");
}
