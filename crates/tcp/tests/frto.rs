//! Spurious timeouts found by the ACKs after them (RFC 5682 §3, Linux `tcp_process_loss`).

mod support;

use rampcc_tcp::{Profile, Segment, SenderConfig};
use rampcc_trace::{FlowEventKind, SenderState};
use support::{MSS, Script, config, ms};

/// No tail probes, so that timers are timeouts; time stamps are of no help in these tests.
fn rules() -> SenderConfig {
    let mut rules = config(Profile::Modern);
    rules.rack_tlp = false;
    rules
}

impl Script {
    /// An ACK of what has just been sent.
    fn answer(&mut self, number: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        let sent = self.now;
        self.ack_echoing(sent + ms(100), sent, number, blocks)
    }

    fn undone(&self) -> bool {
        self.events.contains(&FlowEventKind::Undone)
    }

    fn state(&self) -> SenderState {
        self.sender.sample(self.now).state
    }
}

/// Segments 0 to 19 have left, 0 to 9 are acknowledged and let 20 to 39 leave; the timer expires and 10 leaves again.
fn timed_out(rules: &SenderConfig) -> Script {
    let mut script = Script::warmed_up(rules, 20);
    assert_eq!(script.ack(ms(100), 10, &[]), (20..40).collect::<Vec<_>>());
    assert_eq!((script.cwnd(), script.in_flight()), (30, 30));
    assert_eq!(script.wait(), [10]);
    assert_eq!((script.cwnd(), script.state()), (1, SenderState::Loss));
    script
}

#[test]
fn new_data_leave_before_retransmissions_and_an_original_undoes_the_timeout() {
    let mut script = timed_out(&rules());
    assert_eq!(script.answer(11, &[]), [40, 41], "step 2: new data, not 11");
    assert!(!script.undone());
    let sent = script.answer(12, &[]);
    assert!(script.undone(), "step 3: 11 was not sent again");
    assert_eq!(script.state(), SenderState::Open);
    assert_eq!(script.sender.sample(script.now).ssthresh_bytes, rampcc::UNSET);
    assert_eq!(script.cwnd(), 31, "the window of before, and what this ACK adds");
    assert_eq!(sent, [42], "31 may be in flight, 12 to 41 are");
}

#[test]
fn an_original_in_the_first_ack_is_proof_enough() {
    let mut script = timed_out(&rules());
    assert_eq!(script.answer(12, &[]).first(), Some(&40), "10 was sent again, 11 was not");
    assert!(script.undone());
    assert_eq!(script.state(), SenderState::Open);
}

#[test]
fn an_original_that_is_sacked_is_proof_too() {
    let mut script = timed_out(&rules());
    script.answer(10, &[(12, 13)]);
    assert!(script.undone());
}

#[test]
fn what_arrives_of_the_new_data_only_shows_a_loss() {
    let mut script = timed_out(&rules());
    assert_eq!(script.answer(11, &[]), [40, 41]);
    assert_eq!(script.answer(11, &[(40, 41)]), [11], "step 3: repaired as always");
    script.answer(11, &[(40, 42)]);
    script.answer(13, &[(40, 42)]);
    assert!(!script.undone(), "12 was not sent again, but the answer has been given");
    assert_eq!(script.state(), SenderState::Loss);
}

#[test]
fn without_new_data_to_send_the_repair_goes_on() {
    let mut script = Script::with_bytes(&SenderConfig { initial_window_packets: 20, ..rules() }, 20 * MSS);
    assert_eq!(script.sent().len(), 20);
    script.ack(ms(100), 10, &[]);
    assert_eq!(script.wait(), [10]);
    assert_eq!(script.answer(11, &[]), [11, 12]);
    script.answer(14, &[]);
    assert!(!script.undone(), "13 was not sent again, but the answer has been given");
}

#[test]
fn where_the_receiver_has_no_room_the_repair_goes_on() {
    let mut script = timed_out(&rules());
    let full = Segment::ack(7, 40, script.now, 11, 29 * MSS);
    assert_eq!(script.feed(script.now + ms(100), &full), [11, 12], "40 would be the thirtieth from 11 on");
}

#[test]
fn a_timeout_during_a_recovery_is_not_doubted() {
    let mut script = Script::warmed_up(&rules(), 20);
    script.ack(ms(100), 10, &[]);
    assert_eq!(script.ack(ms(101), 10, &[(11, 14)])[0], 10);
    assert_eq!(script.state(), SenderState::Recovery);
    assert_eq!(script.wait(), [10]);
    script.answer(16, &[]);
    assert!(!script.undone());
    assert_eq!(script.state(), SenderState::Loss);
}

#[test]
fn a_second_timeout_of_the_same_segment_is_doubted_again() {
    let mut script = timed_out(&rules());
    assert_eq!(script.wait(), [10]);
    script.answer(12, &[]);
    assert!(script.undone());
    assert_eq!(script.cwnd(), 32, "that of before the first one, and what this ACK adds");
}

#[test]
fn a_timeout_of_another_segment_is_not_and_reduces_again() {
    let mut script = timed_out(&rules());
    script.answer(11, &[]);
    let before = script.ssthresh();
    assert_eq!(script.wait(), [11]);
    assert!(script.ssthresh() < before, "{} of {before}", script.ssthresh());
    script.answer(13, &[]);
    assert!(!script.undone());
}

#[test]
fn without_sack_a_segment_that_was_sent_again_hides_the_others() {
    let mut rules = rules();
    rules.handshake = true;
    rules.initial_window_packets = 20;
    let mut script = Script::new(&rules);
    let syn = script.segments()[0];
    assert_eq!(script.feed(ms(100), &Segment::syn_ack(&syn, 40, u64::MAX, false)).len(), 20);
    assert_eq!(script.wait(), [0]);
    assert_eq!(script.answer(2, &[]), [20, 21, 22], "1 may have been answered with 0; three are allowed");
    assert!(!script.undone());
    script.answer(3, &[]);
    assert!(script.undone(), "2 answers alone");
}

#[test]
fn what_was_lost_before_the_spurious_timeout_is_found_with_the_same_ack() {
    let mut rules = rules();
    rules.rack_tlp = true;
    let mut script = Script::warmed_up(&rules, 20);
    script.ack(ms(100), 10, &[]);
    assert_eq!(script.wait(), [40], "a tail probe");
    assert_eq!(script.wait(), [10]);
    let sent = script.answer(10, &[(13, 20)]);
    assert!(script.undone());
    assert_eq!(script.state(), SenderState::Recovery, "10 to 12 left before the others");
    assert_eq!(sent[..2], [11, 12], "10 is on its way");
}

#[test]
fn without_frto_a_timeout_stands() {
    let mut rules = rules();
    rules.frto = false;
    let mut script = timed_out(&rules);
    assert_eq!(script.answer(11, &[]), [11, 12]);
    script.answer(14, &[]);
    assert!(!script.undone());
    for profile in [Profile::Era, Profile::Ns2] {
        assert!(!config(profile).frto);
    }
}
