//! Conversion of measured values to what pages show.
use crate::service::quantity;
use portico_domain::panel::{CpuMemory, UsagePoint};

/// Returns cores and bytes as millicores and bytes.
pub fn used(cores: f64, bytes: f64) -> CpuMemory {
    CpuMemory {
        cpu: quantity::round_up(cores * 1_000.0),
        memory: quantity::round_up(bytes),
    }
}

/// Returns the history of CPU: cores as millicores.
pub fn cpu(points: &[(i64, f64)]) -> Vec<UsagePoint> {
    convert(points, 1_000.0)
}

/// Returns the history of memory.
pub fn memory(points: &[(i64, f64)]) -> Vec<UsagePoint> {
    convert(points, 1.0)
}

fn convert(points: &[(i64, f64)], factor: f64) -> Vec<UsagePoint> {
    points
        .iter()
        .map(|&(at, value)| UsagePoint {
            at,
            value: quantity::round_up(value * factor),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_at_all_is_at_least_a_millicore() {
        let tiny = used(0.000_01, 1.0);
        assert_eq!((tiny.cpu, tiny.memory), (1, 1));
        assert_eq!(used(0.25, 0.0).cpu, 250);
        let points = cpu(&[(60, 0.5)]);
        assert_eq!(points, [UsagePoint { at: 60, value: 500 }]);
    }
}
