//! Networks in CIDR notation, as far as the form has to tell whether an address is in one.
use std::net::IpAddr;

/// Returns whether one of the networks contains the address. Texts that cannot be read contain nothing.
pub fn any_contains(networks: &[String], address: &str) -> bool {
    let Ok(address) = address.parse::<IpAddr>() else {
        return false;
    };
    networks
        .iter()
        .any(|network| contains(network, address.to_canonical()).unwrap_or(false))
}

fn contains(network: &str, address: IpAddr) -> Option<bool> {
    let (base, length) = network.split_once('/').unwrap_or((network, ""));
    let base: IpAddr = base.trim().parse().ok()?;
    let (base, address, bits) = match (base, address) {
        // at the upper end of 128 bits, as an address of IPv6 is
        (IpAddr::V4(base), IpAddr::V4(address)) => (
            u128::from(u32::from(base)) << 96,
            u128::from(u32::from(address)) << 96,
            32,
        ),
        (IpAddr::V6(base), IpAddr::V6(address)) => (u128::from(base), u128::from(address), 128),
        _ => return Some(false),
    };
    let length: u32 = match length.trim() {
        "" => bits,
        length => length.parse().ok().filter(|length| *length <= bits)?,
    };
    let difference = base ^ address;
    // a shift by all bits is none
    Some(length == 0 || difference >> (128 - length) == 0)
}

#[cfg(test)]
mod tests {
    use super::any_contains;

    fn is_in(network: &str, address: &str) -> bool {
        any_contains(&[network.to_owned()], address)
    }

    #[test]
    fn an_address_is_in_the_networks_with_its_leading_bits() {
        assert!(is_in("198.51.100.0/24", "198.51.100.255"));
        assert!(!is_in("198.51.100.0/24", "198.51.101.0"));
        assert!(is_in("0.0.0.0/0", "203.0.113.7"));
        assert!(is_in("203.0.113.7", "203.0.113.7"));
        assert!(is_in("203.0.113.7/32", "::ffff:203.0.113.7"));
        assert!(is_in("2001:db8::/32", "2001:db8:1::1"));
        assert!(!is_in("2001:db8::/32", "2001:db9::1"));
    }

    #[test]
    fn what_cannot_be_read_contains_nothing() {
        for network in [
            "",
            "shop",
            "198.51.100.0/33",
            "198.51.100.0/x",
            "2001:db8::/32",
        ] {
            assert!(!is_in(network, "198.51.100.7"), "{network}");
        }
        assert!(!is_in("0.0.0.0/0", "not an address"));
    }
}
