//! Quantities of resources
//! (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>).

const UNITS: [(&str, f64); 15] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
];

/// Returns a quantity in its base unit; `None` for a text that is not one.
pub fn number(text: &str) -> Option<f64> {
    let with_unit = UNITS.iter().find_map(|(unit, factor)| {
        let digits = text.strip_suffix(unit)?;
        digits.parse::<f64>().ok().map(|value| value * factor)
    });
    with_unit.or_else(|| text.parse().ok())
}

/// Returns a quantity of CPU in millicores; 0 for a text that is not one.
pub fn millicores(text: &str) -> u64 {
    round_up(number(text).unwrap_or(0.0) * 1_000.0)
}

/// Returns a quantity in its whole base unit, such as bytes; 0 for a text that is not one.
pub fn whole(text: &str) -> u64 {
    round_up(number(text).unwrap_or(0.0))
}

/// Rounds up to a whole number; negative values are 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the range before"
)]
pub fn round_up(value: f64) -> u64 {
    value.clamp(0.0, 9e18).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_binary_and_decimal_units() {
        assert_eq!(number("1Ki"), Some(1024.0));
        assert_eq!(number("250m"), Some(0.25));
        assert_eq!(number("1.5G"), Some(1.5e9));
        assert_eq!(number("3"), Some(3.0));
        assert_eq!(number("many"), None);
        assert_eq!(number(""), None);
    }

    #[test]
    fn need_07_usage_in_nanocores_is_at_least_a_millicore() {
        assert_eq!(millicores("0"), 0);
        assert_eq!(millicores("137n"), 1);
        assert_eq!(millicores("12345678n"), 13);
        assert_eq!(millicores("1500u"), 2);
        assert_eq!(millicores("2"), 2_000);
        assert_eq!(whole("11264Ki"), 11_534_336);
        assert_eq!((whole("-1"), whole("many")), (0, 0));
    }
}
