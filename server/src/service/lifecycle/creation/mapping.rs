//! What the engine finds out about a creation, as the pages show it.
use portico_domain::panel::lifecycle::{
    Check, CheckLevel, FormPage, LabelLine, LabelOrigin, PlanImpact, PlanLine, QuotaFit,
    QuotaProjection, QuotaUsage, QuotaUse,
};
use portico_lifecycle::{
    labels::{LabelRow, Origin},
    plan::{Impact, Step},
    preflight::{self, Level},
    quota::{Fit, Limit, Projection, Resource, Usage, Usages},
};

/// The quotas that a creation needs, in the order of the bars.
const RESOURCES: [Resource; 8] = [
    Resource::Clusters,
    Resource::Instances,
    Resource::Cores,
    Resource::RamMib,
    Resource::Volumes,
    Resource::VolumeGib,
    Resource::FloatingIps,
    Resource::LoadBalancers,
];

/// Returns the present use of all quotas.
pub fn quotas(usages: &Usages) -> Vec<QuotaUse> {
    quota_uses(usages, &RESOURCES)
}

/// Returns the present use of some quotas, in their order.
pub fn quota_uses(usages: &Usages, resources: &[Resource]) -> Vec<QuotaUse> {
    let uses = resources.iter().map(|resource| QuotaUse {
        resource: resource.name().to_owned(),
        usage: usages.get(resource).copied().map(usage),
    });
    uses.collect()
}

fn usage(usage: Usage) -> QuotaUsage {
    QuotaUsage {
        used: usage.used,
        limit: match usage.limit {
            Limit::Max(limit) => Some(limit),
            Limit::Unlimited => None,
        },
    }
}

/// Returns a quota now and after.
pub fn projection(projection: &Projection) -> QuotaProjection {
    QuotaProjection {
        resource: projection.resource.name().to_owned(),
        usage: projection.usage.map(usage),
        change: projection.change,
        after: projection.after,
        fit: match projection.fit {
            Fit::Fits => QuotaFit::Fits,
            Fit::FitsWithoutSurge => QuotaFit::FitsWithoutSurge,
            Fit::Exceeded(missing) => QuotaFit::Exceeded(missing),
            Fit::Unknown => QuotaFit::Unknown,
        },
        sentence: projection.sentence(),
    }
}

/// Returns a line of the table of labels.
pub fn label(row: &LabelRow) -> LabelLine {
    LabelLine {
        key: row.key.clone(),
        template: row.template.clone(),
        yours: row.yours.clone(),
        result: row.result.clone(),
        origin: match row.origin {
            Origin::Template => LabelOrigin::Template,
            Origin::Added => LabelOrigin::Added,
            Origin::Overridden => LabelOrigin::Overridden,
        },
        meaning: row.meaning.map(str::to_owned),
        notes: row.notes.clone(),
    }
}

/// Returns a step of a plan.
pub fn step(step: &Step) -> PlanLine {
    PlanLine {
        effect: step.effect.clone(),
        impact: match step.impact {
            Impact::None => PlanImpact::None,
            Impact::Disruptive => PlanImpact::Disruptive,
            Impact::Destructive => PlanImpact::Destructive,
        },
        refusal: step.refusal.clone(),
    }
}

/// Returns the result of a check before a creation, with the page of the form that can remedy it.
pub fn check(check: &preflight::Check) -> Check {
    Check {
        page: page(check),
        next_step: next_step(check).map(str::to_owned),
        ..plain_check(check)
    }
}

/// Returns the result of a check that belongs to no form.
pub fn plain_check(check: &preflight::Check) -> Check {
    Check {
        subject: check.subject.to_owned(),
        level: match check.level {
            Level::Ok => CheckLevel::Ok,
            Level::Warning => CheckLevel::Warning,
            Level::Blocks => CheckLevel::Blocks,
        },
        text: check.text.clone(),
        next_step: None,
        page: None,
    }
}

fn page(check: &preflight::Check) -> Option<FormPage> {
    match check.subject {
        "Name" | "Template" | "Zone" => Some(FormPage::Template),
        "Quota" | "Flavor" | "Volumes" | "Node groups" | "Autoscaler" => Some(FormPage::Size),
        "Network" | "API" | "Timeout" | "Version" => Some(FormPage::Access),
        // the text begins with the field
        "Specification" => {
            let field = check.text.split(": ").next().unwrap_or_default();
            Some(FormPage::of_field(field)).filter(|_| check.level != Level::Ok)
        }
        _ => None,
    }
}

/// Returns what to do, where the text of the check does not have it.
fn next_step(check: &preflight::Check) -> Option<&'static str> {
    match (check.subject, check.level) {
        ("Quota", Level::Blocks) => Some(
            "Choose fewer or smaller nodes, delete what is not needed, or ask the cloud's operator for more.",
        ),
        ("Flavor", Level::Blocks | Level::Warning) => Some("Choose a larger flavor."),
        ("Network", Level::Blocks) => Some("Choose another subnet, or fewer nodes."),
        ("Name", Level::Warning) => {
            Some("Choose another name, or note the UUID of the new cluster.")
        }
        ("Zone", Level::Warning) => Some("Choose the same zone for servers and volumes."),
        ("Template", Level::Warning) => Some("Choose a template that is not hidden."),
        ("Node groups", Level::Blocks) => {
            Some("Remove what is not supported from the node groups.")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_leads_to_the_page_that_can_remedy_it() {
        for (subject, text, expected) in [
            ("Quota", "20 of 20 cores used.", Some(FormPage::Size)),
            (
                "Specification",
                "spec.api.allowedCIDRs: Enter a network.",
                Some(FormPage::Access),
            ),
            ("Rights", "Ask a project administrator.", None),
        ] {
            let found = check(&preflight::Check {
                subject,
                level: Level::Blocks,
                text: text.to_owned(),
            });
            assert_eq!(found.page, expected, "{subject}");
            assert_eq!(found.level, CheckLevel::Blocks);
        }
    }

    #[test]
    fn a_quota_that_could_not_be_read_is_not_0() {
        let usages = Usages::from([(
            Resource::Cores,
            Usage {
                used: 4,
                limit: Limit::Unlimited,
            },
        )]);
        let quotas = quotas(&usages);
        assert_eq!(quotas.len(), RESOURCES.len());
        assert_eq!(quotas[0].usage, None);
        let cores = QuotaUsage {
            used: 4,
            limit: None,
        };
        assert_eq!(quotas[2].usage, Some(cores));
    }
}
