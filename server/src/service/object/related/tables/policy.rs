//! Quotas, limits, autoscaling and taints.
use super::{
    super::{
        pod_template::items,
        reader::{Reader, Select},
    },
    link,
    rbac::subject_cells,
    status, table, text,
};
use crate::service::{health::QUOTA_WARNING_PERCENT, quantity::number};
use portico_domain::panel::{DetailCell, DetailTable, Health};
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns what of a quota is used.
pub fn quota(value: &Value) -> DetailTable {
    let rows = quota_rows(value)
        .into_iter()
        .map(|[resource, used, hard, share]| vec![resource, used, hard, share])
        .collect();
    table("Quota", &["Resource", "Used", "Limit", "Share"], rows)
}

fn quota_rows(value: &Value) -> Vec<[DetailCell; 4]> {
    let (used, hard) = (&value["status"]["used"], &value["status"]["hard"]);
    let limits = hard.as_object().or(value["spec"]["hard"].as_object());
    limits
        .into_iter()
        .flatten()
        .map(|(resource, limit)| {
            let used = text(&used[resource]);
            [
                resource.as_str().into(),
                used.clone().into(),
                text(limit).into(),
                share(&used, &text(limit)),
            ]
        })
        .collect()
}

fn share(used: &str, limit: &str) -> DetailCell {
    let (Some(used), Some(limit)) = (number(used), number(limit)) else {
        return "".into();
    };
    if limit <= 0.0 {
        return if used > 0.0 {
            status("over the limit", Health::Warning)
        } else {
            "none allowed".into()
        };
    }
    let percent = used / limit * 100.0;
    let words = format!("{percent:.0} %");
    if percent >= 100.0 {
        status(format!("{words}, exhausted"), Health::Warning)
    } else if percent >= QUOTA_WARNING_PERCENT {
        status(words, Health::Warning)
    } else {
        words.into()
    }
}

/// Returns the limits and defaults for what is created in a namespace.
pub fn limits(value: &Value) -> DetailTable {
    let mut rows = Vec::new();
    for limit in items(&value["spec"]["limits"]) {
        let names = ["min", "max", "default", "defaultRequest"];
        let resources: BTreeSet<&String> = names
            .iter()
            .filter_map(|name| limit[name].as_object())
            .flat_map(|amounts| amounts.keys())
            .collect();
        for resource in resources {
            let mut row: Vec<DetailCell> =
                vec![text(&limit["type"]).into(), resource.as_str().into()];
            row.extend(names.map(|name| DetailCell::from(text(&limit[name][resource]))));
            rows.push(row);
        }
    }
    table(
        "Limits",
        &[
            "Of a",
            "Resource",
            "Minimum",
            "Maximum",
            "Default limit",
            "Default request",
        ],
        rows,
    )
}

/// Returns a namespace's quotas, limits and the subjects that have rights in it.
pub async fn of_namespace(reader: &Reader<'_>) -> Vec<DetailTable> {
    let all = Select::default();
    let (quotas, ranges, bindings) = tokio::join!(
        reader.list("", "resourcequotas", all),
        reader.list("", "limitranges", all),
        reader.list("rbac.authorization.k8s.io", "rolebindings", all),
    );
    let quota_rows = quotas
        .iter()
        .flat_map(|value| {
            let name = value["metadata"]["name"].as_str().unwrap_or_default();
            let object = reader.reference("", "resourcequotas", name);
            quota_rows(value).into_iter().map(move |cells| {
                let mut row = vec![link(name, object.clone())];
                row.extend(cells);
                row
            })
        })
        .collect();
    let mut limit_table = table("Limits", &[], Vec::new());
    for range in &ranges {
        let of_range = limits(range);
        let name = range["metadata"]["name"].as_str().unwrap_or_default();
        let object = reader.reference("", "limitranges", name);
        limit_table.columns = std::iter::once("LimitRange".to_owned())
            .chain(of_range.columns)
            .collect();
        let rows = of_range.rows.into_iter().map(|cells| {
            let mut row = vec![link(name, object.clone())];
            row.extend(cells);
            row
        });
        limit_table.rows.extend(rows);
    }
    let access = bindings
        .iter()
        .flat_map(|binding| {
            let name = binding["metadata"]["name"].as_str().unwrap_or_default();
            let object = reader.reference("rbac.authorization.k8s.io", "rolebindings", name);
            items(&binding["subjects"]).map(move |subject| {
                let [kind, of] = subject_cells(reader, subject);
                vec![
                    kind,
                    of,
                    text(&binding["roleRef"]["name"]).into(),
                    link(name, object.clone()),
                ]
            })
        })
        .collect();
    vec![
        table(
            "Quota",
            &["ResourceQuota", "Resource", "Used", "Limit", "Share"],
            quota_rows,
        ),
        limit_table,
        table(
            "Who has access",
            &["Subject", "Name", "Role", "RoleBinding"],
            access,
        ),
    ]
}

/// Returns the metrics by which an autoscaler decides, of all versions of its API.
pub fn scaling(value: &Value) -> DetailTable {
    let (spec, state) = (&value["spec"], &value["status"]);
    let mut rows = Vec::new();
    if let Some(target) = spec["targetCPUUtilizationPercentage"].as_i64() {
        let current = state["currentCPUUtilizationPercentage"].as_i64();
        rows.push(vec![
            "cpu".into(),
            current
                .map_or_else(|| "unknown".to_owned(), |now| format!("{now} %"))
                .into(),
            format!("{target} % of requests").into(),
        ]);
    }
    for (index, metric) in items(&spec["metrics"]).enumerate() {
        let kind = text(&metric["type"]);
        let field = format!(
            "{}{}",
            kind[..kind.len().min(1)].to_lowercase(),
            kind.get(1..).unwrap_or_default()
        );
        let source = &metric[&field];
        let name = match source["name"].as_str() {
            Some(name) => name.to_owned(),
            None => text(&source["metric"]["name"]),
        };
        let current = &state["currentMetrics"][index][&field];
        let target = &source["target"];
        let old_target = &source["targetAverageUtilization"];
        rows.push(vec![
            name.into(),
            amount(if current["current"].is_null() {
                current
            } else {
                &current["current"]
            })
            .unwrap_or_else(|| "unknown".to_owned())
            .into(),
            amount(target)
                .or_else(|| old_target.as_i64().map(|percent| format!("{percent} %")))
                .unwrap_or_default()
                .into(),
        ]);
    }
    table("Metrics", &["Metric", "Now", "Target"], rows)
}

fn amount(value: &Value) -> Option<String> {
    for percent in ["averageUtilization", "currentAverageUtilization"] {
        if let Some(percent) = value[percent].as_i64() {
            return Some(format!("{percent} %"));
        }
    }
    for name in ["averageValue", "value", "currentAverageValue"] {
        let amount = text(&value[name]);
        if !amount.is_empty() {
            return Some(amount);
        }
    }
    None
}

/// Returns the taints that keep pods from a node.
pub fn taints(value: &Value) -> DetailTable {
    let rows = items(&value["spec"]["taints"])
        .map(|taint| {
            vec![
                text(&taint["key"]).into(),
                text(&taint["value"]).into(),
                text(&taint["effect"]).into(),
            ]
        })
        .collect();
    table("Taints", &["Key", "Value", "Effect"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn words(table: &DetailTable) -> Vec<String> {
        table
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|cell| cell.text.clone())
                    .collect::<Vec<_>>()
                    .join(" | ")
            })
            .collect()
    }

    #[test]
    fn an_exhausted_quota_needs_attention() {
        let table = quota(&json!({"status": {
            "hard": {"pods": "10", "requests.cpu": "2", "requests.memory": "1Gi"},
            "used": {"pods": "10", "requests.cpu": "500m", "requests.memory": "980Mi"}}}));
        assert_eq!(
            words(&table),
            [
                "pods | 10 | 10 | 100 %, exhausted",
                "requests.cpu | 500m | 2 | 25 %",
                "requests.memory | 980Mi | 1Gi | 96 %",
            ]
        );
        let healths: Vec<_> = table.rows.iter().map(|row| row[3].health).collect();
        assert_eq!(
            healths,
            [Some(Health::Warning), None, Some(Health::Warning)]
        );
    }

    #[test]
    fn autoscalers_of_both_api_versions_are_read() {
        let v1 = json!({"spec": {"targetCPUUtilizationPercentage": 80}, "status": {}});
        assert_eq!(words(&scaling(&v1)), ["cpu | unknown | 80 % of requests"]);
        let v2 = json!({"spec": {"metrics": [{"type": "Resource", "resource": {"name": "memory",
                "target": {"type": "Utilization", "averageUtilization": 70}}}]},
            "status": {"currentMetrics": [{"type": "Resource", "resource": {"name": "memory",
                "current": {"averageUtilization": 42}}}]}});
        assert_eq!(words(&scaling(&v2)), ["memory | 42 % | 70 %"]);
    }
}
