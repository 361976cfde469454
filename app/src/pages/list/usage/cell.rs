//! The cell of one row with its CPU or memory: the figure in use above a meter, and everything in
//! words.
use super::ListUsage;
use crate::format;
use leptos::prelude::*;
use portico_domain::panel::{RowFigure, RowFigures, RowUsage};

/// What a column for usage shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Cpu,
    Memory,
}

impl Measure {
    pub fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU",
            Self::Memory => "Memory",
        }
    }

    fn figure(self, figures: &RowFigures) -> &RowFigure {
        match self {
            Self::Cpu => &figures.cpu,
            Self::Memory => &figures.memory,
        }
    }

    fn write(self, amount: u64) -> String {
        match self {
            Self::Cpu => format::cores(amount),
            Self::Memory => format::bytes(amount),
        }
    }
}

/// The content of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CellText {
    /// The figure in use.
    short: String,
    /// Everything in words: `CPU: 120m of 500m requested`.
    full: String,
    /// Per cent of the first amount that the use is compared with; `None` if there is none.
    percent: Option<u64>,
}

impl CellText {
    fn of(usage: Option<&RowUsage>, measure: Measure) -> Self {
        match usage {
            None => Self::unknown(measure, "not read yet"),
            Some(RowUsage::Unknown(reason)) => Self::unknown(measure, reason),
            Some(RowUsage::Known(figures)) => Self::known(figures, measure),
        }
    }

    fn unknown(measure: Measure, reason: &str) -> Self {
        Self {
            short: "—".to_owned(),
            full: format!("{} unknown: {reason}", measure.title()),
            percent: None,
        }
    }

    fn known(figures: &RowFigures, measure: Measure) -> Self {
        let figure = measure.figure(figures);
        let short = measure.write(figure.used);
        let compared: Vec<String> = figure
            .bounds
            .iter()
            .map(|bound| format!("of {} {}", measure.write(bound.amount), bound.kind.words()))
            .collect();
        let compared = if compared.is_empty() {
            "in use".to_owned()
        } else {
            compared.join(", ")
        };
        let mut full = format!("{}: {short} {compared}", measure.title());
        if !figures.note.is_empty() {
            full.push_str(". ");
            full.push_str(&figures.note);
        }
        let first = figure.bounds.first();
        Self {
            percent: first.map(|bound| format::percent(figure.used, bound.amount)),
            short,
            full,
        }
    }
}

/// Shows the usage of one row; changes in place when it is read again.
pub fn usage_cell(usage: ListUsage, uid: &str, measure: Measure) -> AnyView {
    let uid = uid.to_owned();
    let text = Memo::new(move |_| CellText::of(usage.of(&uid).as_ref(), measure));
    let content = move || {
        let text = text.get();
        let full = text.full.clone();
        let meter = match text.percent {
            // not the one of `ui`: that would move code of this part to the first page
            Some(percent) => view! {
                <meter
                    class="bar"
                    max="100"
                    low="80"
                    high="95"
                    optimum="0"
                    value=percent.min(100)
                    aria-label=full
                ></meter>
            }
            .into_any(),
            None => view! { <span class="visually-hidden">{full}</span> }.into_any(),
        };
        view! {
            <span class="usage-cell" title=text.full>
                <span aria-hidden="true">{text.short}</span>
                {meter}
            </span>
        }
    };
    view! { <td role="cell" class="cell-usage cell-extra">{content}</td> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_domain::panel::{UsageBound, UsageBoundKind};

    fn figures(bounds: &[(UsageBoundKind, u64)], note: &str) -> RowUsage {
        let bounds = bounds
            .iter()
            .map(|(kind, amount)| UsageBound {
                kind: *kind,
                amount: *amount,
            })
            .collect();
        RowUsage::Known(RowFigures {
            cpu: RowFigure { used: 120, bounds },
            memory: RowFigure {
                used: 67_108_864,
                bounds: Vec::new(),
            },
            note: note.to_owned(),
        })
    }

    #[test]
    fn need_07_rows_have_their_usage_in_words() {
        let bounds = [
            (UsageBoundKind::Requests, 500),
            (UsageBoundKind::Limits, 1_000),
        ];
        let usage = figures(&bounds, "2 of 3 pods are measured.");
        let cpu = CellText::of(Some(&usage), Measure::Cpu);
        assert_eq!((cpu.short.as_str(), cpu.percent), ("120m", Some(24)));
        assert_eq!(
            cpu.full,
            "CPU: 120m of 500m requested, of 1 allowed by the limits. 2 of 3 pods are measured."
        );
        let memory = CellText::of(Some(&figures(&[], "")), Measure::Memory);
        assert_eq!(memory.full, "Memory: 64 MiB in use");
        assert_eq!(memory.percent, None);
    }

    #[test]
    fn need_07_rows_that_are_unknown_have_the_reason_and_no_zero() {
        let usage = RowUsage::Unknown("No pod is running.".to_owned());
        let cpu = CellText::of(Some(&usage), Measure::Cpu);
        assert_eq!(cpu.short, "—");
        assert_eq!(cpu.full, "CPU unknown: No pod is running.");
        let unread = CellText::of(None, Measure::Memory);
        assert_eq!((unread.short.as_str(), unread.percent), ("—", None));
    }
}
