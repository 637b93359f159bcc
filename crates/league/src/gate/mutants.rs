//! Start-ups with a fault each: what a gate has to find.
//!
//! A mutant is a header around another row's: it calls that and changes what it has decided.

use rampcc::Algorithm;

/// A fault, as C.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mutation {
    /// In the mutant's name.
    pub(super) id: &'static str,
    /// What goes wrong, after "a sender …".
    pub(super) meaning: &'static str,
    /// After the row's `init`; `d` is the decision.
    init: &'static str,
    /// After the row's `on_ack`: `a` is the ACK, and `before` the decision before it.
    on_ack: &'static str,
    /// After the row's `on_event`: `e` is the event, and `before` the decision before it.
    on_event: &'static str,
}

const LEAVE: &str = "if (d->phase != RAMP_DONE) { d->ssthresh_bytes = d->cwnd_bytes; d->evidence = 0; d->limit = 0; \
                     ramp_leave(RAMP_EXIT_SSTHRESH, d); }";

/// All of them. One that changes nothing in a row, such as a fault at an exit that the row never takes, shows by its runs.
pub(super) const MUTATIONS: &[Mutation] = &[
    Mutation {
        id: "iw4",
        meaning: "begins with four packets instead of ten",
        init: "d->cwnd_bytes = ramp_min(d->cwnd_bytes, 4 * (ramp_u64)c->mss_bytes);",
        on_ack: "",
        on_event: "",
    },
    Mutation {
        id: "first_rtt",
        meaning: "leaves at its first RTT sample",
        init: "",
        on_ack: "if (a->rtt_us) { LEAVE }",
        on_event: "",
    },
    Mutation {
        id: "stretch",
        meaning: "does not grow at an ACK for more than two packets",
        init: "",
        on_ack: "if (a->acked_bytes > 2 * (ramp_u64)a->mss_bytes && d->cwnd_bytes > before.cwnd_bytes)\n\
                 \t\td->cwnd_bytes = before.cwnd_bytes;",
        on_event: "",
    },
    Mutation {
        id: "pinned",
        meaning: "leaves where the application had nothing to send",
        init: "",
        on_ack: "if (a->flags & RAMP_APP_LIMITED) { LEAVE }",
        on_event: "",
    },
    Mutation {
        id: "half",
        meaning: "grows half as fast",
        init: "",
        on_ack: "if (d->cwnd_bytes > before.cwnd_bytes)\n\
                 \t\td->cwnd_bytes = before.cwnd_bytes + (d->cwnd_bytes - before.cwnd_bytes) / 2;",
        on_event: "",
    },
    Mutation {
        id: "thrice",
        meaning: "grows three times as fast",
        init: "",
        on_ack: "if (d->cwnd_bytes > before.cwnd_bytes && d->phase != RAMP_DONE)\n\
                 \t\td->cwnd_bytes = ramp_min(d->cwnd_bytes + 2 * (d->cwnd_bytes - before.cwnd_bytes),\n\
                 \t\t\t\t\t RAMP_CWND_MAX_BYTES);",
        on_event: "",
    },
    Mutation {
        id: "capped",
        meaning: "never opens its window beyond 64 packets in start-up",
        init: "",
        on_ack: "if (d->cwnd_bytes >= 64 * (ramp_u64)a->mss_bytes) { d->cwnd_bytes = 64 * (ramp_u64)a->mss_bytes; LEAVE }",
        on_event: "",
    },
    Mutation {
        id: "deaf",
        meaning: "goes on at a loss as if nothing had been lost",
        init: "",
        on_ack: "",
        on_event: "if ((e->kind == RAMP_LOSS || e->kind == RAMP_MARK) && before.phase != RAMP_DONE) {\n\
                  \t\t*d = before;\n\t\td->ssthresh_bytes = before.cwnd_bytes;\n\t}",
    },
    Mutation {
        id: "collapse",
        meaning: "answers the loss that ends start-up with a window of two packets",
        init: "",
        on_ack: "",
        on_event: "if (e->kind == RAMP_LOSS && before.phase != RAMP_DONE) {\n\
                  \t\td->ssthresh_bytes = 2 * (ramp_u64)e->mss_bytes;\n\t\td->cwnd_bytes = d->ssthresh_bytes;\n\t}",
    },
    Mutation {
        id: "thrice_reduced",
        meaning: "answers the loss that ends start-up with three reductions instead of one",
        init: "",
        on_ack: "",
        on_event: "if (e->kind == RAMP_LOSS && before.phase != RAMP_DONE) {\n\
                  \t\td->ssthresh_bytes = ramp_max(d->ssthresh_bytes / 4, 2 * (ramp_u64)e->mss_bytes);\n\
                  \t\td->cwnd_bytes = ramp_min(d->cwnd_bytes, d->ssthresh_bytes);\n\t}",
    },
    Mutation {
        id: "overdue",
        meaning: "doubles the window once more when it leaves",
        init: "",
        on_ack: "if (d->phase == RAMP_DONE && before.phase != RAMP_DONE) {\n\
                 \t\td->cwnd_bytes = ramp_min(2 * d->cwnd_bytes, RAMP_CWND_MAX_BYTES);\n\
                 \t\td->ssthresh_bytes = d->cwnd_bytes;\n\t}",
        on_event: "",
    },
    Mutation {
        id: "early",
        meaning: "leaves at half of the window at which it would leave",
        init: "",
        on_ack: "if (d->phase == RAMP_DONE && before.phase != RAMP_DONE) {\n\
                 \t\td->cwnd_bytes = ramp_max(d->cwnd_bytes / 2, 2 * (ramp_u64)a->mss_bytes);\n\
                 \t\td->ssthresh_bytes = d->cwnd_bytes;\n\t}",
        on_event: "",
    },
    Mutation {
        id: "unpaced",
        meaning: "spaces nothing",
        init: "d->pacing_bytes_per_s = RAMP_BACK_TO_BACK; d->pacing_percent = 0;",
        on_ack: "if (d->phase != RAMP_DONE) { d->pacing_bytes_per_s = RAMP_BACK_TO_BACK; d->pacing_percent = 0; }",
        on_event: "",
    },
];

impl Mutation {
    pub(super) fn name(&self, row: &Algorithm) -> String {
        format!("{}_{}", row.id, self.id)
    }

    pub(super) fn header(&self, row: &Algorithm) -> String {
        let (name, of) = (self.name(row), row.id);
        let (upper, of_upper) = (name.to_ascii_uppercase(), of.to_ascii_uppercase());
        let [init, on_ack, on_event] =
            [self.init, self.on_ack, self.on_event].map(|text| text.replace("LEAVE", LEAVE));
        format!(
            "/* `{of}` as a sender that {meaning}. */\n\
             #ifndef RAMP_{upper}_H\n#define RAMP_{upper}_H\n#include \"{of}.h\"\n\n\
             #define RAMP_{upper}_PARAMETERS(P, N) RAMP_{of_upper}_PARAMETERS(P, N)\n\
             #define RAMP_{upper}_TRAITS {traits}u\n\n\
             struct ramp_{name} {{\n\tstruct ramp_{of} of;\n}};\n\n\
             RAMP_FN void ramp_{name}_init(struct ramp_{name} *s, const struct ramp_config *c, struct ramp_decision *d)\n\
             {{\n\tramp_{of}_init(&s->of, c, d);\n\t{init}\n}}\n\n\
             RAMP_FN void ramp_{name}_on_ack(struct ramp_{name} *s, const struct ramp_ack *a, struct ramp_decision *d)\n\
             {{\n\tstruct ramp_decision before = *d;\n\n\tramp_{of}_on_ack(&s->of, a, d);\n\t(void)before;\n\t{on_ack}\n}}\n\n\
             RAMP_FN void ramp_{name}_on_event(struct ramp_{name} *s, const struct ramp_event *e, struct ramp_decision *d)\n\
             {{\n\tstruct ramp_decision before = *d;\n\n\tramp_{of}_on_event(&s->of, e, d);\n\t(void)before;\n\t{on_event}\n}}\n\n\
             #endif\n",
            meaning = self.meaning,
            traits = row.traits.bits(),
        )
    }
}
