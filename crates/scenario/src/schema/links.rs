//! What every link has, and what happens on it besides queueing.

use rampcc::Time;
use rampcc_path::{QuickStartPolicy, Ties};

use crate::field::Default::{At, Count, Link, Name, Number, Required, Words};
use crate::field::{
    DAY, Entry, PROBABILITY, TIME, US, bytes, count, entries, number, one_of, table, tagged, time, words,
};
use crate::names::kinds;
use crate::queue::QueueKind;

pub(crate) static FIELDS: &[Entry] = entries! {
    "rate": words("rate, list of `{ at, rate }`, or \"unlimited\"") => Link, "How fast the link serves.";
    "rate-period": TIME => Words("no repetition"), "The list of rates starts again after this long.";
    "trace": words("file") => Words("none"), "Delivery opportunities instead of `rate`: mahimahi format, one line for each 1500 bytes, milliseconds; `.gz` is understood. Relative to the scenario file; `ramp:NAME` comes with ramp.";
    "trace-offset": TIME => At(Time::ZERO), "Where in the traces a run starts.";
    "random-trace-offset": words("true, false or time") => Words("false"), "Each seed starts up to this much later in the traces (true: anywhere), capacity and delay together.";
    "delay-trace": words("file") => Words("none"), "Measured one-way delay in milliseconds, one value per line, on the clock of `trace`; added to the constant delay.";
    "delay-trace-step": time(US, DAY) => At(Time::from_ms(10)), "How long each value of `delay-trace` lasts.";
    "buffer": words("bytes, packets, bdp, time or \"unlimited\"") => Link, "How much the queue holds; the packet in service is not counted.";
    "queue": tagged::<QueueKind>() => Name("drop-tail"), "What happens to packets that wait.";
    "jitter": words("time, a table with `kind`, or a list of these") => Words("none"), "Delay that varies; a plain time is uniform up to it, new every packet. Lists add up.";
    "loss": words("probability or a table with `kind`") => Words("0"), "What the medium loses before the queue.";
    "reordering": words("`{ probability, delay }`") => Words("none"), "Packets held back so that later ones overtake.";
    "ack-filter": words("time or a table with `kind`") => Words("none"), "What happens to pure ACKs before the queue; a plain time holds up to 64 of them for so long, 0 none.";
    "quick-start": one_of::<QuickStartPolicy>() => Name("unaware"), "What the router before the link does with Quick-Start requests (RFC 4782): passes them on unheeded, refuses, or grants what is left of 85 % of the rate. A link without a rate has no router.";
    "ties": one_of::<Ties>() => Name("departure"), "What comes first where a packet arrives at the very instant at which another leaves a full queue. ns-2 lets the arrival come first, and drops it, where a packet takes longer over the link before this one than over this one.";
};

kinds! { JitterKind {
    Uniform = "uniform": JITTER_UNIFORM,
    Normal = "normal": JITTER_NORMAL,
    Pareto = "pareto": JITTER_PARETO,
    Sine = "sine": JITTER_SINE,
    Grant = "grant": JITTER_GRANT,
} }

kinds! { LossKind {
    Random = "random": LOSS_RANDOM,
    GilbertElliott = "gilbert-elliott": LOSS_GILBERT,
    Listed = "listed": LOSS_LISTED,
} }

kinds! { AckFilterKind { Aggregate = "aggregate": ACK_AGGREGATE, Thin = "thin": ACK_THIN } }

table! { JITTER_UNIFORM: "jitter = { kind = \"uniform\" }", "Uniform between 0 and `max`.";
    "kind": words("uniform") => Required, "Which one.";
    "max": TIME => Required, "Largest value.";
    "step": TIME => At(Time::ZERO), "A new value this often; 0: every packet.";
}

table! { JITTER_NORMAL: "jitter = { kind = \"normal\" }", "Normal, cut at zero.";
    "kind": words("normal") => Required, "Which one.";
    "mean": TIME => Required, "Mean.";
    "sigma": TIME => Required, "Standard deviation.";
    "step": TIME => At(Time::ZERO), "A new value this often; 0: every packet.";
}

table! { JITTER_PARETO: "jitter = { kind = \"pareto\" }", "Heavy-tailed.";
    "kind": words("pareto") => Required, "Which one.";
    "median": TIME => Required, "Median.";
    "shape": number(0.1, 100.0) => Number(1.5), "Tail index.";
    "max": TIME => Words("100 times `median`"), "Largest value.";
    "step": TIME => At(Time::ZERO), "A new value this often; 0: every packet.";
}

table! { JITTER_SINE: "jitter = { kind = \"sine\" }", "A slow swing with a random phase.";
    "kind": words("sine") => Required, "Which one.";
    "amplitude": TIME => Required, "Peak to peak.";
    "period": time(US, DAY) => Required, "Period.";
}

table! { JITTER_GRANT: "jitter = { kind = \"grant\" }", "A scheduled link: packets leave with the next grant that has room for them.";
    "kind": words("grant") => Required, "Which one.";
    "period": time(US, DAY) => Required, "Between grants.";
    "jitter": TIME => At(Time::ZERO), "Each grant is moved by up to this much, a period at most.";
    "assured": bytes(0, u64::MAX) => Words("a grant carries all that waits"), "What every grant carries, asked for or not; beyond that, what arrived up to the grant that lies `request-delay` back.";
    "request-delay": words("time up to 10000 periods") => At(Time::from_ms(500)), "With `assured`: from a request to the grant that answers it.";
    "free": count(1, 1000) => Count(1), "With `assured`: a grant that answers a request carries so many times what was asked for, as a link with free capacity may.";
}

table! { LOSS_RANDOM: "loss = { kind = \"random\" }", "Each packet independently.";
    "kind": words("random") => Required, "Which one.";
    "probability": PROBABILITY => Required, "Of each packet.";
}

table! { LOSS_GILBERT: "loss = { kind = \"gilbert-elliott\" }", "Bursts: a good and a bad state, one step per packet.";
    "kind": words("gilbert-elliott") => Required, "Which one.";
    "to-bad": PROBABILITY => Required, "From good to bad.";
    "to-good": PROBABILITY => Required, "From bad to good; a burst lasts 1/`to-good` packets on average.";
    "good": PROBABILITY => Number(0.0), "Loss in the good state.";
    "bad": PROBABILITY => Number(1.0), "Loss in the bad state.";
}

table! { LOSS_LISTED: "loss = { kind = \"listed\" }", "Exactly these.";
    "kind": words("listed") => Required, "Which one.";
    "packets": words("list of whole numbers") => Required, "Packets of the link, counted from 0.";
}

table! { REORDERING: "reordering = { … }", "Overtaking on purpose.";
    "probability": PROBABILITY => Required, "That a packet is held back.";
    "delay": TIME => Required, "By how much.";
}

table! { ACK_AGGREGATE: "ack-filter = { kind = \"aggregate\" }", "Holds ACKs and releases them together (Wi-Fi, DOCSIS).";
    "kind": words("aggregate") => Required, "Which one.";
    "count": count(1, 1_000_000) => Count(64), "Released at once when so many wait.";
    "hold": TIME => Required, "Or when the oldest has waited this long.";
}

table! { ACK_THIN: "ack-filter = { kind = \"thin\" }", "Keeps one ACK in so many of a flow, the newest: it waits in place of those before it (RFC 3449).";
    "kind": words("thin") => Required, "Which one.";
    "keep": count(1, 1_000_000) => Required, "It goes on when so many have come.";
    "hold": TIME => At(Time::from_ms(10)), "Or so long after the first of them.";
}
