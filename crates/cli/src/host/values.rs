//! Values of options.

use std::time::Duration;

use rampcc_host::trial::TrialArm;
use rampcc_linux::Options;
use rampcc_scenario::Arm;

use crate::error::Result;

/// From percent to a share.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(value) if (0.0..=100.0).contains(&value) => Ok(value / 100.0),
        _ => Err("a number from 0 to 100".to_owned()),
    }
}

/// A number with ms, s, m or min, h; without a unit seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err("a number with ms, s, m or h".to_owned()),
    };
    let seconds = number.parse::<f64>().map_err(|_| "a number with ms, s, m or h".to_owned())? * scale;
    Duration::try_from_secs_f64(seconds).map_err(|_| "a time that is not that long".to_owned())
}

/// An algorithm with its parameters, as `ramp compare` writes it, or one of the kernel's congestion controls.
pub(crate) fn trial_arm(text: &str) -> Result<TrialArm> {
    let head = text.split(':').next().unwrap_or(text);
    let known = |name: &str| matches!(TrialArm::parse(name), TrialArm::Ours { .. });
    if !text.contains([':', '=']) && !known(head) {
        return Ok(TrialArm::Kernel(text.to_owned()));
    }
    let arm = Arm::parse(text)?;
    let mut options = Options::new(arm.algorithm);
    for (name, value) in arm.parameters_of("an attachment")? {
        let index = arm.algorithm.parameters.iter().position(|parameter| parameter.name == name);
        options.parameters[index.expect("the arm was parsed by its table")] = *value;
    }
    Ok(TrialArm::Ours { label: arm.label, algorithm: arm.algorithm, options: Box::new(options) })
}

#[cfg(test)]
mod tests {
    use super::{Duration, TrialArm, duration, percent, trial_arm};

    #[test]
    fn times_have_units() {
        let times = ["10m", "90s", "1.5 h", "250ms"].map(|text| duration(text).expect("a time"));
        let expected = [600.0, 90.0, 5400.0, 0.25].map(Duration::from_secs_f64);
        assert_eq!(times, expected);
        assert!(
            duration("10 days").is_err()
                && duration("-1s").is_err()
                && duration("7").is_err()
                && duration("").is_err()
        );
    }

    #[test]
    fn shares_are_percent() {
        assert_eq!(percent("50"), Ok(0.5));
        assert_eq!(percent("2.5 %"), Ok(0.025));
        assert!(percent("101").is_err() && percent("-1").is_err() && percent("half").is_err());
    }

    #[test]
    fn an_arm_is_ours_or_the_kernels() {
        assert!(matches!(trial_arm("cubic"), Ok(TrialArm::Kernel(name)) if name == "cubic"));
        let Ok(TrialArm::Ours { label, algorithm, options }) = trial_arm("limited:max_ssthresh=2") else {
            panic!("it is an algorithm with a parameter")
        };
        assert_eq!(
            (label.as_str(), algorithm.id, options.parameters[0]),
            ("limited max_ssthresh=2", "limited", 2)
        );
        assert!(trial_arm("limited:no_such=1").is_err() && trial_arm("no_such:a=1").is_err());
    }
}
