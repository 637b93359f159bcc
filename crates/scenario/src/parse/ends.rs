//! `[sender]`, `[receiver]` and `[algorithm.<id>]`.

use ramp::{Algorithm, Parameter, Time, algorithms};
use ramp_tcp::{
    AckPolicy, Avoidance, Pacing, Profile, ReceiveWindow, ReceiverConfig, Recovery, SenderConfig,
};

use crate::document::{Section, Value};
use crate::error::{ScenarioError, listed, nearest};
use crate::model::Steering;
use crate::units;

const AVOIDANCE: [&str; 3] = ["reno", "cubic", "vegas"];

/// `congestion-control` of a flow or a sender.
pub(crate) fn avoidance(value: &Value<'_>) -> Result<Avoidance, ScenarioError> {
    Ok([Avoidance::Reno, Avoidance::Cubic, Avoidance::Vegas][value.choice(&AVOIDANCE)?])
}

/// The algorithm of this id, or of this name.
pub(crate) fn algorithm(value: &Value<'_>) -> Result<&'static Algorithm, ScenarioError> {
    let id = value.text()?;
    find_algorithm(id).map_err(|(problem, allowed)| value.error(&problem, &allowed))
}

/// The algorithm of this id or name, or what is wrong and what is allowed.
pub(crate) fn find_algorithm(id: &str) -> Result<&'static Algorithm, (String, String)> {
    ramp::algorithm(id).ok_or_else(|| {
        let names = || algorithms().iter().map(|a| a.id);
        let near = nearest(id, algorithms().iter().flat_map(|a| [a.id, a.name]));
        let found = crate::error::shortened(id);
        let problem = match near {
            Some(near) => format!("there is no algorithm `{found}`; did you mean `{near}`?"),
            None => format!("there is no algorithm `{found}`"),
        };
        (problem, listed(names()))
    })
}

/// Changes `sender` by the fields of `[sender]`.
pub(crate) fn sender(s: &Section<'_>, sender: &mut SenderConfig) -> Result<(), ScenarioError> {
    if let Some(value) = s.get("mss") {
        sender.mss_bytes = value.bytes((1, 65_535))? as u32;
    }
    if let Some(value) = s.get("headers") {
        sender.header_bytes = value.bytes((0, 1000))? as u32;
    }
    sender.initial_window_packets =
        s.packets("initial-window", sender.initial_window_packets, (1, 10_000))?;
    match s.get("initial-ssthresh") {
        Some(value) if value.is("none") => sender.initial_ssthresh_packets = None,
        Some(value) => sender.initial_ssthresh_packets = Some(value.packets((1, u32::MAX))?),
        None => {}
    }
    sender.abc_limit_packets = s.packets("abc-limit", sender.abc_limit_packets, (0, 1000))?;
    if let Some(value) = s.get("congestion-control") {
        sender.avoidance = avoidance(&value)?;
    }
    if let Some(value) = s.get("recovery") {
        let words = ["sack", "sack-ns2", "newreno-impatient", "newreno-steady"];
        let kinds = [Recovery::Sack, Recovery::SackNs2, Recovery::NewRenoImpatient, Recovery::NewRenoSteady];
        sender.recovery = kinds[value.choice(&words)?];
    }
    sender.prr = s.flag("prr", sender.prr)?;
    sender.rack_tlp = s.flag("rack-tlp", sender.rack_tlp)?;
    sender.limited_transmit = s.flag("limited-transmit", sender.limited_transmit)?;
    sender.undo = s.flag("undo", sender.undo)?;
    sender.frto = s.flag("frto", sender.frto)?;
    rto(s, sender)?;
    if let Some(value) = s.get("pacing") {
        sender.pacing = [Pacing::Algorithm, Pacing::Always][value.choice(&["algorithm", "always"])?];
    }
    sender.max_burst_packets = s.packets("max-burst", sender.max_burst_packets, (0, 1_000_000))?;
    match s.get("send-buffer") {
        Some(value) if value.is("unlimited") => sender.send_buffer_bytes = u64::MAX,
        Some(value) => sender.send_buffer_bytes = value.bytes((u64::from(sender.mss_bytes), u64::MAX))?,
        None => {}
    }
    if let Some(value) = s.get("send-buffer-max") {
        sender.send_buffer_max_bytes = value.bytes((0, u64::MAX))?;
    }
    sender.idle_restart = s.flag("idle-restart", sender.idle_restart)?;
    sender.handshake = s.flag("handshake", sender.handshake)?;
    if let Some(value) = s.get("cubic-beta") {
        sender.cubic_beta_1024 = (value.number((0.1, 1.0))? * 1024.0).round() as u32;
    }
    let vegas = &mut sender.vegas;
    vegas.alpha_packets = s.packets("vegas-alpha", vegas.alpha_packets, (0, 100_000))?;
    vegas.beta_packets = s.packets("vegas-beta", vegas.beta_packets, (0, 100_000))?;
    if vegas.alpha_packets > vegas.beta_packets {
        let problem = format!("{} is below `vegas-alpha`, {}", vegas.beta_packets, vegas.alpha_packets);
        return Err(s.error("vegas-beta", &problem, "at least `vegas-alpha`"));
    }
    vegas.mean_rtt = s.flag("vegas-mean-rtt", vegas.mean_rtt)?;
    let rounds = u64::from(sender.extra_startup_rounds);
    sender.extra_startup_rounds = s.count("extra-startup-rounds", rounds, (0, 100))? as u32;
    Ok(())
}

/// Changes `receiver` by the fields of `[receiver]`.
pub(crate) fn receiver(s: &Section<'_>, receiver: &mut ReceiverConfig) -> Result<(), ScenarioError> {
    let (mut kind, mut every, mut quick, mut timer) = match receiver.ack_policy {
        AckPolicy::Quick => (0, 2, 16, Time::from_ms(40)),
        AckPolicy::Delayed { every, timer } => (1, every, 16, timer),
        AckPolicy::Linux { quick, timer } => (2, 2, quick, timer),
    };
    if let Some(value) = s.get("acks") {
        kind = value.choice(&["quick", "delayed", "linux"])?;
    }
    for (name, kinds, only) in [
        ("ack-every", &[1][..], "`acks = \"delayed\"`"),
        ("quick-acks", &[2][..], "`acks = \"linux\"`"),
        ("ack-timer", &[1, 2][..], "`acks = \"delayed\"` or \"linux\""),
    ] {
        if let Some(value) = s.get(name)
            && !kinds.contains(&kind)
        {
            return Err(value.error("it has no effect with these `acks`", &format!("{only} beside it")));
        }
    }
    every = s.count("ack-every", u64::from(every), (1, 1000))? as u32;
    quick = s.count("quick-acks", u64::from(quick), (0, 1_000_000))? as u32;
    timer = s.time("ack-timer", timer)?;
    receiver.ack_policy = match kind {
        0 => AckPolicy::Quick,
        1 => AckPolicy::Delayed { every, timer },
        _ => AckPolicy::Linux { quick, timer },
    };
    receiver.sack_blocks = s.count("sack-blocks", u64::from(receiver.sack_blocks), (0, 4))? as u8;
    receiver.sack_suppression_segments =
        s.packets("sack-suppression", receiver.sack_suppression_segments, (0, 1_000_000))?;
    match s.get("window") {
        Some(value) if value.is("unlimited") => receiver.window = ReceiveWindow::Unlimited,
        Some(value) if value.is("autotuned") => {
            receiver.window = ReceiveWindow::Autotuned { initial: 64 << 10, max: 6 << 20 };
        }
        Some(value) => receiver.window = ReceiveWindow::Fixed(value.bytes((1, u64::MAX))?),
        None => {}
    }
    for name in ["window-initial", "window-max"] {
        let Some(value) = s.get(name) else { continue };
        let ReceiveWindow::Autotuned { initial, max } = &mut receiver.window else {
            return Err(value.error("the window is not autotuned", "`window = \"autotuned\"` beside it"));
        };
        *(if name == "window-max" { max } else { initial }) = value.bytes((1, u64::MAX))?;
    }
    if let ReceiveWindow::Autotuned { initial, max } = receiver.window
        && initial > max
    {
        return Err(s.error(
            "window-max",
            &format!("{max} B is below `window-initial`, {initial} B"),
            "at least that",
        ));
    }
    if let Some(value) = s.get("ack-size") {
        receiver.ack_bytes = value.bytes((1, 1000))? as u32;
    }
    if let Some(value) = s.get("sack-block-size") {
        receiver.sack_block_bytes = value.bytes((0, 100))? as u32;
    }
    receiver.ns2_sink = s.flag("ns2-sink", receiver.ns2_sink)?;
    Ok(())
}

/// Tells the sender what it must know of its receiver.
pub(crate) fn acquaint(sender: &mut SenderConfig, receiver: &ReceiverConfig) {
    sender.delayed_acks = receiver.ack_policy != AckPolicy::Quick;
}

/// Parameters of every algorithm: the profile's, changed by `[algorithm.<id>]`.
pub(crate) fn settings(profile: Profile, value: Option<&Value<'_>>) -> Result<Vec<Steering>, ScenarioError> {
    let mut settings: Vec<Steering> = algorithms()
        .iter()
        .map(|algorithm| Steering { algorithm, parameters: algorithm.parameters_in(profile.environment()) })
        .collect();
    let Some(value) = value else { return Ok(settings) };
    for (id, key, table) in value.entries("tables by algorithm id, e.g. `[algorithm.hystart]`")? {
        let algorithm = find_algorithm(id)
            .map_err(|(problem, allowed)| value.file.error(key, &table.field, &problem, &allowed))?;
        let row = settings.iter_mut().find(|s| s.algorithm.id == algorithm.id);
        let Some(Steering { parameters, .. }) = row else { continue };
        for (name, key, value) in table.entries("parameters by name")? {
            let index = find_parameter(algorithm, name)
                .map_err(|(problem, allowed)| value.file.error(key, &value.field, &problem, &allowed))?;
            parameters[index] = parameter(&algorithm.parameters[index], &value)?;
        }
    }
    Ok(settings)
}

/// The index of a parameter in its algorithm's table, or what is wrong and what is allowed.
pub(crate) fn find_parameter(algorithm: &Algorithm, name: &str) -> Result<usize, (String, String)> {
    let wanted = name.replace('-', "_");
    algorithm.parameters.iter().position(|p| p.name == wanted).ok_or_else(|| {
        let names = || algorithm.parameters.iter().map(|p| p.name);
        let near =
            nearest(&wanted, names()).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let allowed = if algorithm.parameters.is_empty() {
            "none: it has no parameters".to_owned()
        } else {
            listed(names())
        };
        (format!("`{}` has no parameter `{}`{near}", algorithm.id, crate::error::shortened(name)), allowed)
    })
}

/// What a parameter may be set to, for messages and lists.
pub(crate) fn parameter_range(parameter: &Parameter) -> String {
    let Parameter { unit, minimum, maximum, .. } = parameter;
    match (*unit, whole(parameter)) {
        (_, Some(whole)) => format!(
            "a ratio from {} to {}, such as \"{}/{whole}\"",
            *minimum as f64 / f64::from(whole),
            *maximum as f64 / f64::from(whole),
            parameter.default,
        ),
        _ if unit.starts_with("choice:") => listed(choices(parameter).into_iter()),
        ("us", _) => format!("a time from {} to {}", Time::from_us(*minimum), Time::from_us(*maximum)),
        ("bytes", _) => format!("a size from {minimum} to {maximum} bytes, such as \"2 MB\""),
        ("bytes/s", _) => {
            format!(
                "a rate from {minimum} to {maximum} bytes per second, such as \"2 MB/s\" or \"16 Mbit/s\""
            )
        }
        ("count", _) => format!("a whole number from {minimum} to {maximum}"),
        _ => format!("a whole number from {minimum} to {maximum} ({unit})"),
    }
}

/// The value of `parameter` that `value` gives, within its range.
fn parameter(parameter: &Parameter, value: &Value<'_>) -> Result<u64, ScenarioError> {
    let allowed = parameter_range(parameter);
    let found = value.scalar().ok_or_else(|| value.error(&format!("found {}", value.found()), &allowed))?;
    parameter_value(parameter, found)
        .map_err(|problem| value.error(&format!("found {}: {problem}", value.found()), &allowed))
}

/// A parameter's value from a text, in the unit of its table, within its range.
///
/// A number without unit counts in the table's unit; for ratios it is the ratio itself.
pub(crate) fn parameter_value(parameter: &Parameter, text: &str) -> Result<u64, units::Wrong> {
    let text = text.trim();
    if parameter.unit.starts_with("choice:") {
        let words = choices(parameter);
        let index =
            words.iter().position(|w| *w == text).or_else(|| text.parse().ok().filter(|i| *i < words.len()));
        return index.map(|i| i as u64).ok_or_else(|| match nearest(text, words.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "it is no such choice".to_owned(),
        });
    }
    let number = match (whole(parameter), text.replace('_', "").parse::<u64>()) {
        (Some(whole), _) => units::ratio(text, whole)?,
        (None, Ok(number)) => number,
        (None, Err(_)) => match parameter.unit {
            "us" => units::time(text).map(Time::us)?,
            "bytes" => units::bytes(text)?,
            "bytes/s" => units::rate(text).map(ramp::Rate::bytes_per_s)?,
            "packets" => units::packets(text)?,
            "percent" => text
                .strip_suffix('%')
                .and_then(|n| n.trim().parse().ok())
                .ok_or("it is not a whole percentage")?,
            _ => return Err("it is not a whole number".to_owned()),
        },
    };
    if number < parameter.minimum || number > parameter.maximum {
        return Err("it is out of range".to_owned());
    }
    Ok(number)
}

/// N of a unit `1/N`.
fn whole(parameter: &Parameter) -> Option<u32> {
    parameter.unit.strip_prefix("1/")?.parse().ok()
}

fn choices(parameter: &Parameter) -> Vec<&'static str> {
    parameter.unit.trim_start_matches("choice:").split('|').collect()
}

fn rto(s: &Section<'_>, sender: &mut SenderConfig) -> Result<(), ScenarioError> {
    let rto = &mut sender.rto;
    for (name, target, minimum) in [
        ("rto-initial", &mut rto.initial, Time::from_us(1)),
        ("rto-min", &mut rto.min, Time::from_us(1)),
        ("rto-max", &mut rto.max, Time::from_us(1)),
        ("rto-tick", &mut rto.tick, Time::ZERO),
    ] {
        if let Some(value) = s.get(name) {
            *target = value.time_in((minimum, Time::from_secs(86_400)))?;
        }
    }
    if rto.min > rto.max {
        return Err(s.error(
            "rto-max",
            &format!("{} is below `rto-min`, {}", rto.max, rto.min),
            "at least `rto-min`",
        ));
    }
    rto.min_of_variance = s.flag("rto-min-of-variance", rto.min_of_variance)?;
    rto.count_ticks = s.flag("rto-count-ticks", rto.count_ticks)?;
    if rto.count_ticks && (rto.tick == Time::ZERO || rto.min_of_variance) {
        let problem = "there is no clock whose ticks could be counted";
        return Err(s.error(
            "rto-count-ticks",
            problem,
            "false, or a `rto-tick` without `rto-min-of-variance`",
        ));
    }
    Ok(())
}
