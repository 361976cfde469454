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
}
