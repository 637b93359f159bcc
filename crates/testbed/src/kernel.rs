//! Which kernel this is, and how its own CUBIC is set.

/// Settings of the machine's CUBIC that differ from Linux's defaults: `hystart_low_window=32`. Its parameters are
/// the module's, the same for every connection of the machine.
pub fn cubic_settings() -> Vec<String> {
    let read = |name: &str| std::fs::read_to_string(format!("/sys/module/tcp_cubic/parameters/{name}")).ok();
    changed_cubic_settings(read)
}

fn changed_cubic_settings(read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    // net/ipv4/tcp_cubic.c; the same from Linux 2.6.29 on.
    const SHIPPED: [(&str, &str); 9] = [
        ("beta", "717"),
        ("bic_scale", "41"),
        ("fast_convergence", "1"),
        ("hystart", "1"),
        ("hystart_ack_delta_us", "2000"),
        ("hystart_detect", "3"),
        ("hystart_low_window", "16"),
        ("initial_ssthresh", "0"),
        ("tcp_friendliness", "1"),
    ];
    let changed = SHIPPED.into_iter().filter_map(|(name, shipped)| {
        let value = read(name)?.trim().to_owned();
        (value != shipped).then(|| format!("{name}={value}"))
    });
    changed.collect()
}

/// Release of the running kernel, e.g. `6.12.9-amd64`.
pub fn kernel_release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| "unknown".to_owned(), |release| release.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::changed_cubic_settings;

    #[test]
    fn only_what_differs_from_linux_is_told() {
        let read = |name: &str| match name {
            "beta" => Some("819\n".to_owned()),
            "hystart" => Some("1\n".to_owned()),
            _ => None,
        };
        assert_eq!(changed_cubic_settings(read), ["beta=819"]);
    }
}
