//! `[sender]`, `[receiver]` and `[algorithm.<id>]`.

use rampcc::{Algorithm, Parameter, Time, algorithms};
use rampcc_tcp::{AckPolicy, Avoidance, Profile, ReceiveWindow, ReceiverConfig, SenderConfig};

use crate::document::{Section, Value};
use crate::error::{Result, listed, nearest};
use crate::field::US;
use crate::model::Steering;
use crate::names::{Acks, System};
use crate::of_sender::OfSender;
use crate::read::default_of;
use crate::schema;
use crate::units;

/// Bytes of an IP packet that is an ACK with timestamps (RFC 7323).
const STAMPED_ACK: u32 = 52;

/// The algorithm of this id, or of this name.
pub(crate) fn algorithm(value: &Value<'_>) -> Result<&'static Algorithm> {
    let id = value.text()?;
    find_algorithm(id).map_err(|(problem, allowed)| value.error(&problem, &allowed))
}

/// The algorithm of this id or name, or what is wrong and what is allowed.
pub(crate) fn find_algorithm(id: &str) -> Result<&'static Algorithm, (String, String)> {
    rampcc::algorithm(id).ok_or_else(|| {
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

/// Changes `sender` by the fields of `[sender]`, if it is there.
pub(crate) fn sender(s: Option<&Section<'_>>, sender: &mut SenderConfig) {
    let Some(s) = s else { return };
    s.set("mss", &mut sender.mss_bytes);
    s.set("headers", &mut sender.header_bytes);
    s.set("initial-window", &mut sender.initial_window_packets);
    let most = u64::from(u32::MAX);
    let ssthresh = |v: &Value<'_>| Ok(if v.is("none") { None } else { Some(v.packets(&(1..=most))? as u32) });
    if let Some(ssthresh) = s.read("initial-ssthresh", ssthresh) {
        sender.initial_ssthresh_packets = ssthresh;
    }
    s.set("abc-limit", &mut sender.abc_limit_packets);
    if let Some(avoidance) = s.maybe::<Avoidance>("congestion-control") {
        (sender.avoidance, sender.own_avoidance) = (avoidance, false);
    }
    s.set("ecn", &mut sender.ecn);
    s.set("recovery", &mut sender.recovery);
    s.set("prr", &mut sender.prr);
    s.set("rack-tlp", &mut sender.rack_tlp);
    s.set("limited-transmit", &mut sender.limited_transmit);
    s.set("undo", &mut sender.undo);
    s.set("frto", &mut sender.frto);
    s.file.keep(rto(s, sender));
    s.set("pacing", &mut sender.pacing);
    s.set("max-burst", &mut sender.max_burst_packets);
    let least = if s.is_sound() { u64::from(sender.mss_bytes) } else { 0 };
    let buffer = |v: &Value<'_>| if v.is("unlimited") { Ok(u64::MAX) } else { v.bytes(&(least..=u64::MAX)) };
    if let Some(buffer) = s.read("send-buffer", buffer) {
        sender.send_buffer_bytes = buffer;
    }
    s.set("send-buffer-max", &mut sender.send_buffer_max_bytes);
    s.set("idle-restart", &mut sender.idle_restart);
    s.set("handshake", &mut sender.handshake);
    s.set("cubic-of-2007", &mut sender.cubic_of_2007);
    if sender.cubic_of_2007 {
        sender.cubic_beta_1024 = 819;
    }
    if let Some(beta) = s.maybe::<f64>("cubic-beta") {
        sender.cubic_beta_1024 = (beta * 1024.0).round() as u32;
    }
    let vegas = &mut sender.vegas;
    s.set("vegas-alpha", &mut vegas.alpha_packets);
    s.set("vegas-beta", &mut vegas.beta_packets);
    if vegas.alpha_packets > vegas.beta_packets && s.is_sound() {
        let problem = format!("{} is below `vegas-alpha`, {}", vegas.beta_packets, vegas.alpha_packets);
        s.file.keep::<()>(Err(s.error("vegas-beta", &problem, "at least `vegas-alpha`")));
    }
    s.set("vegas-mean-rtt", &mut vegas.mean_rtt);
    s.set("extra-startup-rounds", &mut sender.extra_startup_rounds);
}

/// Changes `receiver` by the fields of `[receiver]`, if it is there.
pub(crate) fn receiver(s: Option<&Section<'_>>, receiver: &mut ReceiverConfig) {
    let Some(s) = s else { return };
    if let Some(system) = s.maybe("system") {
        (receiver.ack_policy, receiver.sack_suppression_segments) = known_system(system);
    }
    receiver.ack_policy = ack_policy(s, receiver.ack_policy);
    if let Some(blocks) = s.maybe::<u32>("sack-blocks") {
        receiver.sack_blocks = blocks as u8;
    }
    s.set("sack-suppression", &mut receiver.sack_suppression_segments);
    let window = |v: &Value<'_>| {
        Ok(if v.is("unlimited") {
            ReceiveWindow::Unlimited
        } else if v.is("autotuned") {
            let of = |name| default_of(&schema::RECEIVER, name);
            ReceiveWindow::Autotuned { initial: of("window-initial"), max: of("window-max") }
        } else {
            ReceiveWindow::Fixed(v.bytes(&(1..=u64::MAX))?)
        })
    };
    if let Some(window) = s.read("window", window) {
        receiver.window = window;
    }
    s.file.keep(autotuning(s, &mut receiver.window));
    s.set("gathers-sacks", &mut receiver.gathers_sacks);
    s.set("ack-size", &mut receiver.ack_bytes);
    s.set("sack-block-size", &mut receiver.sack_block_bytes);
    s.set("ns2-sink", &mut receiver.ns2_sink);
    if let Some(tick) = s.read("timestamps", timestamps) {
        receiver.timestamp_tick = tick;
    } else if s.get("ack-size").is_some() && receiver.ack_bytes < STAMPED_ACK {
        receiver.timestamp_tick = Time::ZERO;
    }
}

/// How often their clock ticks; zero: there is none. RFC 7323 (§5.4) asks for 1 ms to 1 s; Linux has had 1 us since 6.7 where a
/// route says so.
fn timestamps(value: &Value<'_>) -> Result<Time> {
    if value.is("off") {
        return Ok(Time::ZERO);
    }
    let tick = if value.is_text() { value.time().ok() } else { None };
    tick.filter(|tick| (US..=Time::from_secs(1)).contains(tick)).ok_or_else(|| {
        let problem = format!("found {}", value.found());
        value.error(&problem, "\"off\", or a time from 1 us to 1 s")
    })
}

/// How a system of 2008 acknowledges, and from how many out-of-order segments on it suppresses SACK. What Windows' limit was
/// is not published.
fn known_system(system: System) -> (AckPolicy, u32) {
    match system {
        System::Linux => (AckPolicy::Linux { quick: 16, timer: Time::from_ms(40) }, 0),
        System::FreeBsd => (AckPolicy::FreeBsd { timer: Time::from_ms(100) }, 0),
        System::WindowsXp => (AckPolicy::Delayed { every: 2, timer: Time::from_ms(200) }, 100),
    }
}

fn ack_policy(s: &Section<'_>, usual: AckPolicy) -> AckPolicy {
    let kind = s.maybe("acks").unwrap_or(Acks::of(usual));
    for (name, kinds, only) in [
        ("ack-every", &[Acks::Delayed][..], "`acks = \"delayed\"`"),
        ("quick-acks", &[Acks::Linux][..], "`acks = \"linux\"`"),
        (
            "ack-timer",
            &[Acks::Delayed, Acks::Linux, Acks::FreeBsd][..],
            "`acks = \"delayed\"`, \"linux\" or \"freebsd\"",
        ),
    ] {
        if let Some(value) = s.get(name)
            && !kinds.contains(&kind)
            && s.is_sound()
        {
            let beside = format!("{only} with it");
            s.file.keep::<()>(Err(value.error("it has no effect with these `acks`", &beside)));
        }
    }
    let usually = |name| default_of(&schema::RECEIVER, name);
    let (mut every, mut quick) = (usually("ack-every"), usually("quick-acks"));
    let mut timer = default_of(&schema::RECEIVER, "ack-timer");
    match usual {
        AckPolicy::Quick => {}
        AckPolicy::Delayed { every: e, timer: t } => (every, timer) = (e, t),
        AckPolicy::Linux { quick: q, timer: t } => (quick, timer) = (q, t),
        AckPolicy::FreeBsd { timer: t } => timer = t,
    }
    s.set("ack-every", &mut every);
    s.set("quick-acks", &mut quick);
    s.set("ack-timer", &mut timer);
    match kind {
        Acks::Quick => AckPolicy::Quick,
        Acks::Delayed => AckPolicy::Delayed { every, timer },
        Acks::Linux => AckPolicy::Linux { quick, timer },
        Acks::FreeBsd => AckPolicy::FreeBsd { timer },
    }
}

fn autotuning(s: &Section<'_>, window: &mut ReceiveWindow) -> Result {
    for name in ["window-initial", "window-max"] {
        let (Some(value), Some(bytes)) = (s.get(name), s.maybe(name)) else { continue };
        match window {
            ReceiveWindow::Autotuned { initial, max } => {
                *(if name == "window-max" { max } else { initial }) = bytes;
            }
            _ if s.is_sound() => {
                return Err(value.error("the window is not autotuned", "`window = \"autotuned\"` with it"));
            }
            _ => {}
        }
    }
    match *window {
        ReceiveWindow::Autotuned { initial, max } if initial > max && s.is_sound() => {
            let problem = format!("{max} B is below `window-initial`, {initial} B");
            Err(s.error("window-max", &problem, "at least that"))
        }
        _ => Ok(()),
    }
}

/// Tells the sender what it must know of its receiver.
pub(crate) fn acquaint(sender: &mut SenderConfig, receiver: &ReceiverConfig) {
    sender.delayed_acks = receiver.ack_policy != AckPolicy::Quick;
}

/// Parameters of every algorithm: the profile's, changed by `[algorithm.<id>]`.
pub(crate) fn settings(profile: Profile, value: Option<&Value<'_>>) -> Vec<Steering> {
    let mut settings: Vec<Steering> = algorithms()
        .iter()
        .map(|algorithm| Steering {
            algorithm,
            parameters: algorithm.parameters_in(profile.environment()),
            sender: OfSender::default(),
        })
        .collect();
    let Some(value) = value else { return settings };
    let file = value.file;
    let entries = file.keep(value.entries("tables by algorithm id, e.g. `[algorithm.hystart]`"));
    for (id, key, table) in entries.into_iter().flatten() {
        let algorithm = find_algorithm(id)
            .map_err(|(problem, allowed)| file.error(key, &table.field, &problem, &allowed));
        let Some(algorithm) = file.keep(algorithm) else { continue };
        let row = settings.iter_mut().find(|s| s.algorithm.id == algorithm.id);
        let Some(Steering { parameters, .. }) = row else { continue };
        for (name, key, value) in file.keep(table.entries("parameters by name")).into_iter().flatten() {
            let set = find_parameter(algorithm, name)
                .map_err(|(problem, allowed)| file.error(key, &value.field, &problem, &allowed))
                .and_then(|index| Ok((index, parameter(&algorithm.parameters[index], &value)?)));
            if let Some((index, set)) = file.keep(set) {
                parameters[index] = set;
            }
        }
    }
    settings
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
            "a ratio from {} to {}, such as \"{}/{whole}\", or its parts of {whole}",
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
fn parameter(parameter: &Parameter, value: &Value<'_>) -> Result<u64> {
    let allowed = parameter_range(parameter);
    let found = value.scalar().ok_or_else(|| value.error(&format!("found {}", value.found()), &allowed))?;
    parameter_value(parameter, found)
        .map_err(|problem| value.error(&format!("found {}: {problem}", value.found()), &allowed))
}

/// A parameter's value from a text, in the unit of its table, within its range.
///
/// A number without unit counts in the table's unit. Of ratios only whole numbers above 1 do; others are the ratio
/// itself.
pub(crate) fn parameter_value(parameter: &Parameter, text: &str) -> Result<u64, units::Wrong> {
    let text = text.trim();
    if parameter.unit.starts_with("choice:") {
        let words = choices(parameter);
        let index =
            words.iter().position(|w| *w == text).or_else(|| text.parse().ok().filter(|i| *i < words.len()));
        return index.map(|i| i as u64).ok_or_else(|| match nearest(text, words.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "it is not one of the choices".to_owned(),
        });
    }
    let number = match (whole(parameter), text.replace('_', "").parse::<u64>()) {
        (Some(_), Ok(parts)) if parts > 1 => parts,
        (Some(whole), _) => units::ratio(text, whole)?,
        (None, Ok(number)) => number,
        (None, Err(_)) => match parameter.unit {
            "us" => units::time(text).map(Time::us)?,
            "bytes" => units::bytes(text)?,
            "bytes/s" => units::rate(text).map(rampcc::Rate::bytes_per_s)?,
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
    match parameter.unit {
        "permille" => Some(1000),
        unit => unit.strip_prefix("1/")?.parse().ok(),
    }
}

fn choices(parameter: &Parameter) -> Vec<&'static str> {
    parameter.unit.trim_start_matches("choice:").split('|').collect()
}

fn rto(s: &Section<'_>, sender: &mut SenderConfig) -> Result {
    let rto = &mut sender.rto;
    s.set("rto-initial", &mut rto.initial);
    s.set("rto-min", &mut rto.min);
    s.set("rto-max", &mut rto.max);
    s.set("rto-tick", &mut rto.tick);
    s.set("rto-min-of-variance", &mut rto.min_of_variance);
    s.set("rto-count-ticks", &mut rto.count_ticks);
    if rto.min > rto.max && s.is_sound() {
        return Err(s.error(
            "rto-max",
            &format!("{} is below `rto-min`, {}", rto.max, rto.min),
            "at least `rto-min`",
        ));
    }
    if s.is_sound() && rto.count_ticks && (rto.tick == Time::ZERO || rto.min_of_variance) {
        let problem = "there is no clock whose ticks could be counted";
        return Err(s.error(
            "rto-count-ticks",
            problem,
            "false, or a `rto-tick` without `rto-min-of-variance`",
        ));
    }
    Ok(())
}
