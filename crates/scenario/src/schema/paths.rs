//! Tables of paths and graphs.

use rampcc::Time;

use super::links::FIELDS as LINK_FIELDS;
use crate::field::Default::{At, Count, Flag, Required, Words};
use crate::field::{FLAG, RATE, TEXT, TIME, count, table, words};
use crate::units::Buffer;

table! { PATH: "[path]", "One sender, one bottleneck, one receiver.", link LINK_FIELDS, "required, or `trace`", Buffer::Bdp(1.0);
    "rtt": words("time or list of `{ at, rtt }`") => Words("required, or 0 with `delay-trace`"), "Round-trip propagation delay of the whole path, half of it each way.";
    "rtt-period": TIME => Words("no repetition"), "The list of round-trip times starts again after this long.";
    "access": words("rate or table") => Words("none"), "Side links between each host and the bottleneck, both directions.";
    "sender-access": words("rate or table") => Words("`access`"), "The side link of the sender alone.";
    "receiver-access": words("rate or table") => Words("`access`"), "The side link of the receiver alone.";
    "reverse": words("table") => Words("see there"), "The way of the ACKs, where it differs.";
    "cross-traffic": words("rate or share of the mean rate") => Words("0"), "Packets of 1500 B at a constant rate from sender to receiver, in addition to the flows.";
}

table! { REVERSE: "[path.reverse]", "The way back, also as `[dumbbell.reverse]`.", link LINK_FIELDS, "the forward rate if constant, else unlimited", Buffer::Unlimited;
    "delay": TIME => Words("half of `rtt`"), "One-way delay of the way back; the forward way takes the rest of `rtt`.";
}

table! { ACCESS: "access = { … }", "Side links.";
    "rate": RATE => Required, "Rate, both directions.";
    "delay": TIME => At(Time::ZERO), "One-way delay; counted in `rtt`, not added to it.";
    "buffer": words("bytes, packets, time or \"unlimited\"") => Words("unlimited"), "Drop-tail queue of each direction.";
}

table! { DUMBBELL: "[dumbbell]", "Hosts `sender-1`, `sender-2`, … and `receiver-1`, … around the link `left` to `right`.", link LINK_FIELDS, "required, or `trace`", Buffer::Bdp(1.0);
    "pairs": count(1, 1000) => Count(2), "Senders, and as many receivers.";
    "rtt": words("time or list of `{ at, rtt }`") => Words("required, or 0 with `delay-trace`"), "Round-trip propagation delay from host to host.";
    "rtt-period": TIME => Words("no repetition"), "The list of round-trip times starts again after this long.";
    "access": words("rate or table") => Words("unlimited"), "Side links of all hosts, both directions.";
    "reverse": words("table") => Words("see `[path.reverse]`"), "The link `right` to `left`; by default the same rate, queue and buffer as the other direction.";
}

table! { PARKING_LOT: "[parking-lot]", "Routers `router-0` to `router-N` in a chain of equal links, hosts `host-R-1`, … at router R.", link LINK_FIELDS, "required, or `trace`", Buffer::Bdp(1.0);
    "hops": count(1, 50) => Count(3), "Links between routers.";
    "hosts": count(1, 50) => Count(2), "Hosts at each router.";
    "delay": TIME => Required, "One-way delay of each link between routers.";
    "delay-period": TIME => Words("no repetition"), "The list of delays starts again after this long.";
    "access": words("rate or table") => Words("unlimited"), "Links between hosts and their routers; their delay is added.";
}

table! { NODE: "[[node]]", "A node of a graph; without any, the ends of links are the nodes.";
    "name": TEXT => Required, "Unique.";
}

table! { LINK: "[[link]]", "A link of a graph.", link LINK_FIELDS, "required, or `trace`", Buffer::Unlimited;
    "from": words("node") => Required, "Where it begins.";
    "to": words("node") => Required, "Where it ends.";
    "name": TEXT => Words("`from->to`"), "Unique.";
    "delay": words("time or list of `{ at, delay }`") => Words("0 s"), "One-way delay.";
    "delay-period": TIME => Words("no repetition"), "The list of delays starts again after this long.";
    "both-ways": FLAG => Flag(true), "The same link in the other direction too, named `to->from`, or with `-reverse` after a given name.";
}

table! { RATE_STEP: "rate = [{ … }]", "A rate that changes; the first begins at 0 s.";
    "at": TIME => Required, "When it begins.";
    "rate": words("rate, 0: outage") => Required, "From then on.";
}

table! { RTT_STEP: "rtt = [{ … }]", "A round-trip time that changes; the first begins at 0 s.";
    "at": TIME => Required, "When it begins.";
    "rtt": TIME => Required, "From then on.";
}

table! { DELAY_STEP: "delay = [{ … }]", "A one-way delay that changes; the first begins at 0 s.";
    "at": TIME => Required, "When it begins.";
    "delay": TIME => Required, "From then on.";
}
