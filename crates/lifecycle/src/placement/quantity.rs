//! Quantities of Kubernetes, such as `500m`, `2`, `1Gi` and `1e3`
//! (<https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>).

/// Returns a quantity in thousandths, rounded up; `None` if it cannot be read.
pub fn thousandths(text: &str) -> Option<i128> {
    let text = text.trim();
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | '+' | '-'))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    let (multiplier, divisor) = scale(suffix)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let (is_negative, whole) = match whole.strip_prefix('-') {
        Some(whole) => (true, whole),
        None => (false, whole.strip_prefix('+').unwrap_or(whole)),
    };
    let digits = format!("{whole}{fraction}");
    let is_number = digits.chars().all(|digit| digit.is_ascii_digit());
    if digits.is_empty() || digits.len() > 24 || !is_number {
        return None;
    }
    let value: i128 = digits.parse().ok()?;
    let places = u32::try_from(fraction.len()).ok()?;
    let divisor = divisor.checked_mul(10_i128.checked_pow(places)?)?;
    let scaled = value.checked_mul(multiplier)?.checked_mul(1000)?;
    let value = scaled.checked_add(divisor - 1)? / divisor;
    Some(if is_negative { -value } else { value })
}

/// Returns multiplier and divisor of a suffix.
fn scale(suffix: &str) -> Option<(i128, i128)> {
    let binary = |power: u32| Some((1024_i128.checked_pow(power)?, 1));
    let decimal = |power: u32| Some((10_i128.checked_pow(power)?, 1));
    let small = |power: u32| Some((1, 10_i128.checked_pow(power)?));
    match suffix {
        "" => Some((1, 1)),
        "n" => small(9),
        "u" => small(6),
        "m" => small(3),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        exponent => {
            let power: i32 = exponent.strip_prefix(['e', 'E'])?.parse().ok()?;
            let size = power.unsigned_abs();
            if size > 18 {
                None
            } else if power < 0 {
                small(size)
            } else {
                decimal(size)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_of_kubernetes_are_read_and_rounded_up() {
        for (text, expected) in [
            ("500m", 500),
            ("2", 2000),
            ("0.1", 100),
            ("1.5", 1500),
            ("1Ki", 1_024_000),
            ("1.5Gi", 1_610_612_736_000),
            ("128M", 128_000_000_000),
            ("1e3", 1_000_000),
            ("1E", 1_000_000_000_000_000_000_000),
            ("1n", 1),
            ("0", 0),
            ("-1", -1000),
        ] {
            assert_eq!(thousandths(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_quantity_has_no_value() {
        for text in ["", "m", "1x", "1..2", "1.a", "one", "1e99", "--1", "1 Gi"] {
            assert_eq!(thousandths(text), None, "{text}");
        }
    }
}
