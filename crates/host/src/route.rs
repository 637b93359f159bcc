//! The congestion control of one route.
//!
//! A route is kept as the kernel gives it out, byte for byte, so that putting it back needs no understanding of what
//! it says. What does not come out as it goes in is refused.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nix::sys::socket::SockProtocol;
use rampcc_system::netlink::{Netlink, attributes, encode};
use serde::{Deserialize, Serialize};

use crate::error::{HostError, Result};
use crate::scope::Prefix;

const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const NLM_F_REPLACE: u16 = 0x100;
/// `struct rtmsg`.
const HEADER: usize = 12;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const TABLE_MAIN: u32 = 254;
const RTN_UNICAST: u8 = 1;
const RTM_F_CLONED: u32 = 0x200;
/// The one flag of a route that is asked for; the others are what the kernel says of its state.
const RTNH_F_ONLINK: u32 = 4;
const RTNH_F_DEAD: u32 = 1;
const RTPROT_REDIRECT: u8 = 1;
const RTPROT_RA: u8 = 9;

const RTA_DST: u16 = 1;
const RTA_SRC: u16 = 2;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RTA_MULTIPATH: u16 = 9;
const RTA_FLOW: u16 = 11;
const RTA_CACHEINFO: u16 = 12;
const RTA_TABLE: u16 = 15;
const RTA_VIA: u16 = 18;
const RTA_PREF: u16 = 20;
const RTA_PAD: u16 = 26;
const RTA_NH_ID: u16 = 30;
const RTAX_CC_ALGO: u16 = 16;

/// A route, as the kernel describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Route {
    header: Header,
    #[serde(with = "hex")]
    attributes: BTreeMap<u16, Vec<u8>>,
    /// By number, without the congestion control.
    #[serde(with = "hex")]
    metrics: BTreeMap<u16, Vec<u8>>,
    /// `None`: the namespace's default.
    pub(crate) congestion_control: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    family: u8,
    destination_length: u8,
    source_length: u8,
    tos: u8,
    table: u8,
    protocol: u8,
    scope: u8,
    kind: u8,
    flags: u32,
}

impl Route {
    /// The route of the main table that this prefix names, in the thread's network namespace; `None`: there is none.
    ///
    /// Refuses to choose among several.
    pub(crate) fn find(prefix: &Prefix) -> Result<Option<Self>> {
        let mut found = main_table(prefix.address.is_ipv4(), |route| route.leads_to(prefix))?;
        if found.len() > 1 {
            let metrics: Vec<_> = found.iter().map(Self::metric).collect();
            let mut different = metrics.clone();
            different.sort_unstable();
            different.dedup();
            let problem = format!("{} routes lead to {prefix}", found.len());
            return Err(if different.len() == metrics.len() {
                let known: Vec<_> = different.iter().map(|m| format!("route {prefix} metric {m}")).collect();
                HostError::input(problem, format!("say which: {}", known.join(", ")))
            } else {
                HostError::refused(
                    format!(
                        "{problem} that differ in neither prefix nor metric, so none can be replaced alone"
                    ),
                    "give them different metrics",
                )
            });
        }
        Ok(found.pop())
    }

    /// Destinations of the main table, for messages.
    pub(crate) fn destinations(prefix: &Prefix) -> Result<Vec<String>> {
        let routes = main_table(prefix.address.is_ipv4(), |_| true)?;
        let mut all: Vec<_> = routes.iter().map(|route| route.prefix().to_string()).collect();
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// Whether this route, having been replaced, can be put back as it was.
    pub(crate) fn check_restorable(&self) -> Result {
        let refuse = |why: &str| {
            let advice = "choose another scope: system, netns or cgroup";
            Err(HostError::refused(format!("the route to {} {why}", self.prefix()), advice))
        };
        let header = &self.header;
        if header.kind != RTN_UNICAST {
            return refuse("carries no connections (it is not unicast)");
        }
        if [RTPROT_RA, RTPROT_REDIRECT].contains(&header.protocol) {
            return refuse(
                "is kept by router advertisements or redirects, which would replace it at any time",
            );
        }
        if header.flags & RTNH_F_DEAD != 0 {
            return refuse("is dead: its device is down");
        }
        let expires = |info: &Vec<u8>| info.get(8..12).is_some_and(|expires| expires != [0; 4]);
        if self.attributes.get(&RTA_CACHEINFO).is_some_and(expires) {
            return refuse("expires by itself");
        }
        let known = [
            RTA_DST,
            RTA_SRC,
            RTA_OIF,
            RTA_GATEWAY,
            RTA_PRIORITY,
            RTA_PREFSRC,
            RTA_MULTIPATH,
            RTA_FLOW,
            RTA_CACHEINFO,
            RTA_TABLE,
            RTA_VIA,
            RTA_PREF,
            RTA_PAD,
            RTA_NH_ID,
        ];
        match self.attributes.keys().find(|kind| !known.contains(kind)) {
            Some(kind) => refuse(&format!(
                "has an attribute that cannot be put back (rtnetlink's number {kind}, such as an encapsulation)"
            )),
            None => Ok(()),
        }
    }

    /// The same route with another congestion control.
    pub(crate) fn with(&self, congestion_control: Option<&str>) -> Self {
        Self { congestion_control: congestion_control.map(str::to_owned), ..self.clone() }
    }

    /// Whether two descriptions are of the same route, apart from the congestion control and what changes by itself.
    pub(crate) fn same_but_for_congestion_control(&self, other: &Self) -> bool {
        self.essence() == other.essence() && self.metrics == other.metrics
    }

    /// Puts it in the place of the route with its prefix and metric.
    pub(crate) fn replace(&self) -> Result {
        Netlink::open(SockProtocol::NetlinkRoute)
            .and_then(|socket| socket.change(RTM_NEWROUTE, NLM_F_REPLACE, &self.message()))
            .map_err(HostError::system(format!("replace the route to {}", self.prefix())))
    }

    /// As the kernel wants it.
    fn message(&self) -> Vec<u8> {
        let mut metrics: Vec<_> = self.metrics.clone().into_iter().collect();
        if let Some(name) = &self.congestion_control {
            metrics.push((RTAX_CC_ALGO, [name.as_bytes(), &[0]].concat()));
        }
        let mut attributes: Vec<_> = self.attributes.clone().into_iter().collect();
        attributes.retain(|(kind, _)| ![RTA_CACHEINFO, RTA_PAD].contains(kind));
        if self.nexthop_object().is_some() {
            // The kernel shows what the nexthop object stands for, but takes only the object.
            attributes.retain(|(kind, _)| ![RTA_OIF, RTA_GATEWAY, RTA_VIA, RTA_MULTIPATH].contains(kind));
        }
        // Without the attribute the kernel takes any route's metrics that goes over the same nexthop object, ours included.
        if !metrics.is_empty() || self.nexthop_object().is_some() {
            attributes.push((RTA_METRICS, encode(&metrics)));
        }
        let mut body = self.header.encode();
        body.extend(encode(&attributes));
        body
    }

    /// The same, and sure of it: what the kernel then shows is this route. Its congestion control must be registered, and
    /// that of the route before as well, since the kernel shows no other.
    pub(crate) fn put_back(&self) -> Result {
        self.replace()?;
        let found: Vec<_> = self.alike()?;
        match found.as_slice() {
            [found]
                if found.same_but_for_congestion_control(self)
                    && found.congestion_control == self.congestion_control =>
            {
                Ok(())
            }
            found => {
                let now: Vec<_> = found.iter().map(Self::describe).collect();
                let now = if now.is_empty() { "nothing".to_owned() } else { now.join(" and ") };
                Err(HostError::refused(
                    format!("the kernel took the route {} and has {now} instead", self.describe()),
                    "set it by hand (ip route replace …), then detach again",
                ))
            }
        }
    }

    /// The number of the nexthop object that it goes over.
    pub(crate) fn nexthop_object(&self) -> Option<u32> {
        self.number(RTA_NH_ID)
    }

    pub(crate) fn is_ipv4(&self) -> bool {
        self.header.family == AF_INET
    }

    /// Routes of the main table with a congestion control such as these, in the thread's network namespace.
    pub(crate) fn of_main_table(which: impl Fn(&str) -> bool) -> Result<Vec<Self>> {
        let ours = |route: &Self| route.congestion_control.as_deref().is_some_and(&which);
        let mut all = main_table(true, ours)?;
        all.extend(main_table(false, ours)?);
        Ok(all)
    }

    /// Routes of any table that one of these congestion controls is set on, in the thread's network namespace.
    pub(crate) fn that_name(names: &[String]) -> Result<Vec<Self>> {
        let named = |route: &Self| route.congestion_control.as_ref().is_some_and(|name| names.contains(name));
        let mut all = all_tables(true, named)?;
        all.extend(all_tables(false, named)?);
        Ok(all)
    }

    /// Takes its congestion control off, if no other route could be meant.
    pub(crate) fn without(&self) -> Result {
        self.check_restorable()?;
        if self.alike()?.len() > 1 {
            let problem = format!("several routes are like {}", self.describe());
            return Err(HostError::refused(problem, "give them different metrics"));
        }
        self.with(None).put_back()
    }

    /// The routes that a replacement of this one would be for.
    fn alike(&self) -> Result<Vec<Self>> {
        let place = |route: &Self| {
            (route.table(), route.prefix(), route.header.source_length, route.header.tos, route.metric())
        };
        let own = place(self);
        let source = self.attributes.get(&RTA_SRC);
        all_tables(self.is_ipv4(), |route| place(route) == own && route.attributes.get(&RTA_SRC) == source)
    }

    /// As `ip route` shows it, in part.
    pub(crate) fn describe(&self) -> String {
        let mut text = self.prefix().to_string();
        let family = self.header.family;
        if let Some(gateway) = self.attributes.get(&RTA_GATEWAY).and_then(|bytes| address(family, bytes)) {
            let _ = write!(text, " via {gateway}");
        }
        if let Some(number) = self.nexthop_object() {
            let _ = write!(text, " nhid {number}");
        }
        if self.metric() > 0 {
            let _ = write!(text, " metric {}", self.metric());
        }
        if self.table() != TABLE_MAIN {
            let _ = write!(text, " table {}", self.table());
        }
        match &self.congestion_control {
            Some(name) => text + " congctl " + name,
            None => text + " without congctl",
        }
    }

    fn parse(message: &[u8]) -> Option<Self> {
        let header = Header::parse(message)?;
        let mut all: BTreeMap<u16, Vec<u8>> = attributes(&message[HEADER..]).into_iter().collect();
        let mut metrics: BTreeMap<u16, Vec<u8>> = all
            .remove(&RTA_METRICS)
            .map(|bytes| attributes(&bytes).into_iter().collect())
            .unwrap_or_default();
        let congestion_control = metrics
            .remove(&RTAX_CC_ALGO)
            .map(|name| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned());
        Some(Self { header, attributes: all, metrics, congestion_control })
    }

    fn table(&self) -> u32 {
        self.number(RTA_TABLE).unwrap_or_else(|| self.header.table.into())
    }

    pub(crate) fn metric(&self) -> u32 {
        self.number(RTA_PRIORITY).unwrap_or(0)
    }

    fn number(&self, kind: u16) -> Option<u32> {
        self.attributes.get(&kind)?.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes))
    }

    pub(crate) fn prefix(&self) -> Prefix {
        let family = self.header.family;
        let none =
            if family == AF_INET { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let address = self.attributes.get(&RTA_DST).and_then(|bytes| address(family, bytes)).unwrap_or(none);
        Prefix { address, length: self.header.destination_length, metric: None }
    }

    pub(crate) fn leads_to(&self, prefix: &Prefix) -> bool {
        let own = self.prefix();
        (own.address, own.length) == (prefix.address, prefix.length)
            && prefix.metric.is_none_or(|metric| metric == self.metric())
    }

    fn essence(&self) -> (Header, BTreeMap<u16, Vec<u8>>) {
        let mut header = self.header.clone();
        header.flags &= RTNH_F_ONLINK;
        let mut attributes = self.attributes.clone();
        attributes.retain(|kind, _| ![RTA_CACHEINFO, RTA_PAD].contains(kind));
        (header, attributes)
    }
}

impl Header {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; HEADER] = *bytes.first_chunk()?;
        let [family, destination_length, source_length, tos, table, protocol, scope, kind, ..] = bytes;
        let flags = u32::from_ne_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
        Some(Self { family, destination_length, source_length, tos, table, protocol, scope, kind, flags })
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![
            self.family,
            self.destination_length,
            self.source_length,
            self.tos,
            self.table,
            self.protocol,
            self.scope,
            self.kind,
        ];
        bytes.extend((self.flags & RTNH_F_ONLINK).to_ne_bytes());
        bytes
    }
}

/// A route that the kernel tells of: what people read, its record, and for one that can be put back the message that does. For
/// fuzzing.
#[doc(hidden)]
pub fn told(message: &[u8]) -> Option<(String, String, Option<Vec<u8>>)> {
    let route = Route::parse(message)?;
    let record = serde_json::to_string(&route).expect("a route is plain data");
    let again = route.check_restorable().is_ok().then(|| route.message());
    Some((route.describe(), record, again))
}

/// The wanted ones: a router's table is too long to be kept whole.
fn main_table(ipv4: bool, wanted: impl Fn(&Route) -> bool) -> Result<Vec<Route>> {
    all_tables(ipv4, |route| route.table() == TABLE_MAIN && wanted(route))
}

fn all_tables(ipv4: bool, wanted: impl Fn(&Route) -> bool) -> Result<Vec<Route>> {
    let family = if ipv4 { AF_INET } else { AF_INET6 };
    let mut request = [0; HEADER];
    request[0] = family;
    let keep = |routes: &mut Vec<Route>, message: &[u8]| {
        let route = Route::parse(message).filter(|route| route.header.flags & RTM_F_CLONED == 0);
        routes.extend(route.filter(|route| wanted(route)));
    };
    Netlink::open(SockProtocol::NetlinkRoute)
        .and_then(|socket| socket.dump(RTM_GETROUTE, &request, keep))
        .map_err(HostError::system::<io::Error>("read the routes"))
}

fn address(family: u8, bytes: &[u8]) -> Option<IpAddr> {
    match family {
        AF_INET => bytes.first_chunk().map(|bytes| Ipv4Addr::from(*bytes).into()),
        AF_INET6 => bytes.first_chunk().map(|bytes| Ipv6Addr::from(*bytes).into()),
        _ => None,
    }
}

/// Attributes in a record: number to bytes in hexadecimal.
mod hex {
    use std::collections::BTreeMap;
    use std::fmt::Write;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    type Attributes = BTreeMap<u16, Vec<u8>>;

    pub(super) fn serialize<S: Serializer>(attributes: &Attributes, to: S) -> Result<S::Ok, S::Error> {
        let text = |bytes: &Vec<u8>| {
            bytes.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
        };
        attributes.iter().map(|(kind, bytes)| (*kind, text(bytes))).collect::<BTreeMap<_, _>>().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Attributes, D::Error> {
        let texts: BTreeMap<u16, String> = BTreeMap::deserialize(from)?;
        let bytes = |text: &str| {
            let digits: Option<Vec<u8>> =
                text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
            let digits = digits.filter(|digits| digits.len() % 2 == 0)?;
            Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
        };
        texts
            .into_iter()
            .map(|(kind, text)| {
                bytes(&text)
                    .map(|bytes| (kind, bytes))
                    .ok_or_else(|| D::Error::custom("no hexadecimal bytes"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_a_route_is_the_route() {
        let mut message = vec![AF_INET, 8, 0, 0, 254, 4, 0, RTN_UNICAST];
        message.extend(RTNH_F_ONLINK.to_ne_bytes());
        let metrics = encode(&[(2, vec![0xdc, 5, 0, 0]), (RTAX_CC_ALGO, b"cubic\0".to_vec())]);
        message.extend(encode(&[
            (RTA_TABLE, 254u32.to_ne_bytes().into()),
            (RTA_DST, vec![10, 0, 0, 0]),
            (RTA_METRICS, metrics),
            (RTA_GATEWAY, vec![192, 0, 2, 1]),
        ]));
        let route = Route::parse(&message).expect("a route");
        assert_eq!(route.describe(), "10.0.0.0/8 via 192.0.2.1 congctl cubic");
        let record = serde_json::to_string(&route).expect("it is plain");
        assert_eq!(serde_json::from_str::<Route>(&record).expect("and comes back"), route);
        let other = route.with(None);
        assert!(other != route && other.same_but_for_congestion_control(&route));
        let mut wider = route.clone();
        wider.metrics.insert(2, vec![0, 6, 0, 0]);
        assert!(!wider.same_but_for_congestion_control(&route));
    }

    #[test]
    fn what_puts_a_route_back_leaves_nothing_out() {
        let gateway = (RTA_GATEWAY, vec![192, 0, 2, 1]);
        let of = |nexthop: &[u8]| {
            let mut message = vec![AF_INET, 0, 0, 0, 254, 4, 0, RTN_UNICAST, 0, 0, 0, 0];
            message.extend(encode(&[gateway.clone(), (RTA_NH_ID, nexthop.to_vec())]));
            let route = Route::parse(&message).expect("a route");
            Route::parse(&route.message()).expect("the same").describe()
        };
        assert_eq!(of(&[7, 0, 0, 0]), "default nhid 7 without congctl");
        // Too short for the number of an object.
        assert_eq!(of(&[7]), "default via 192.0.2.1 without congctl");
    }
}
