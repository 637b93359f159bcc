//! One end of a connection, and the thread that drives it.

use std::io;

use nix::sys::prctl;
use rampcc::Time;
use rampcc_emulator::{Clock, Spinning, run_above_engine};
use rampcc_quic_sim::{Carried, UdpDatagram};
use rampcc_sim::Endpoint;

use super::socket::Socket;

/// A sleeping thread wakes up so much too late; what is due sooner is waited for awake.
const SPIN: Time = Time::from_us(50);
/// How often a thread without anything to do looks whether the run is over.
const LOOK: Time = Time::from_ms(5);
/// No datagram is larger.
const DATAGRAM_BYTES: usize = 1 << 16;

/// What a thread does besides carrying datagrams.
pub(super) trait Host {
    type End: Endpoint<Packet = UdpDatagram>;

    /// The end has been handed something; `packet`: a datagram, not a timer.
    fn attend(&mut self, end: &mut Self::End, now: Time, packet: bool);
    /// `false`: the run is over.
    fn goes_on(&mut self, now: Time) -> bool;
}

/// An end with its socket.
pub(super) struct Driver<E> {
    pub(super) carried: Carried<E>,
    socket: Socket,
    clock: Clock,
    spinning: Spinning,
    /// Of each packet and timer: how late it was attended to.
    pub(super) delays: Vec<Time>,
    /// Datagrams for which the kernel had no room.
    pub(super) refused: u64,
    /// Datagrams with stream data that have left.
    pub(super) data_packets: u64,
}

impl<E: Endpoint<Packet = UdpDatagram>> Driver<E> {
    pub(super) fn new(carried: Carried<E>, socket: Socket, clock: Clock) -> Self {
        Self {
            carried,
            socket,
            clock,
            spinning: Spinning::default(),
            delays: Vec::new(),
            refused: 0,
            data_packets: 0,
        }
    }

    /// Until the host says that it is over.
    pub(super) fn run(&mut self, host: &mut impl Host<End = E>) -> io::Result<()> {
        // Without the privileges it works as well as it can, and says how late it was.
        let _ = prctl::set_timerslack(1);
        let _ = run_above_engine();
        let mut buffer = vec![0; DATAGRAM_BYTES];
        let now = self.clock.now();
        host.attend(&mut self.carried.end, now, false);
        self.send()?;
        while host.goes_on(self.clock.now()) {
            let now = self.clock.now();
            let due = self.carried.end.poll_timeout();
            if due <= now {
                self.delays.push(now - due);
                self.carried.end.handle_timeout(now);
                host.attend(&mut self.carried.end, now, false);
                self.send()?;
            }
            if let Some((bytes, waited)) = self.socket.receive(&mut buffer)? {
                let now = self.clock.now();
                self.delays.push(waited);
                self.carried.arrive(now, &buffer[..bytes]);
                host.attend(&mut self.carried.end, now, true);
                self.send()?;
                self.spinning.rest();
            } else {
                self.wait()?;
            }
        }
        Ok(())
    }

    /// Everything that may leave now.
    fn send(&mut self) -> io::Result<()> {
        while let Some((datagram, data)) = self.carried.depart(self.clock.now()) {
            self.refused += u64::from(!self.socket.send(&datagram)?);
            self.data_packets += u64::from(data);
        }
        Ok(())
    }

    /// Sleeps until a datagram comes, or shortly before the next timer is due, and is awake for the rest.
    fn wait(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        let due = self.carried.end.poll_timeout();
        if due <= now {
            return Ok(());
        }
        let spin = if self.spinning.allowed(now) { SPIN } else { Time::ZERO };
        if due - now <= spin {
            self.spinning.spin(now);
            return Ok(());
        }
        self.spinning.rest();
        self.socket.wait((due - now - spin).min(LOOK))
    }
}
