//! The thread that plays links under a real clock.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hdrhistogram::Histogram;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::prctl;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::unistd::{read, write};
use rampcc::Time;
use rampcc_path::Count;

use crate::clock::{Clock, thread_time};
use crate::network::Network;
use crate::report::PortReport;
use crate::spinning::Spinning;
use crate::sys;

/// Real-time priority of the engine; sockets' threads run above it, so that it cannot starve them.
pub(crate) const ENGINE_PRIORITY: i32 = 10;
/// Packets handled in one direction before the other has its turn.
const BATCH: usize = 32;
/// Answers taken in after one write: a window that grows by a burst may send 64 kB at once, in small packets.
const ANSWERS: usize = 256;
/// Latest packets that the lateness histogram tells apart, nanoseconds.
const LATENESS_MAX: u64 = 60_000_000_000;

/// What the thread is given.
pub(crate) struct Engine {
    pub(crate) network: Network,
    /// The TUN devices, the sender's first.
    pub(crate) devices: [OwnedFd; 2],
    pub(crate) mtu: u32,
    pub(crate) clock: Clock,
    /// Sleep until this long before a packet is due, then spin.
    pub(crate) spin: Time,
    /// An answer is taken to have been sent when the packet that caused it was due, if that is at most this long ago.
    pub(crate) back_dating: Time,
    pub(crate) realtime: bool,
    pub(crate) stop: Arc<Stop>,
}

/// Ends the thread.
#[derive(Debug)]
pub(crate) struct Stop {
    asked: AtomicBool,
    wake: EventFd,
}

/// What the thread gives back.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) network: Network,
    /// Kept open: what the devices dropped can still be read.
    pub(crate) _devices: [OwnedFd; 2],
    pub(crate) ports: [PortReport; 2],
    pub(crate) lateness: Histogram<u64>,
    pub(crate) back_dating_capped: u64,
    pub(crate) span: Time,
    pub(crate) busy: Time,
    pub(crate) realtime: bool,
}

impl Stop {
    pub(crate) fn new() -> io::Result<Self> {
        let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        Ok(Self { asked: AtomicBool::new(false), wake })
    }

    pub(crate) fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
        // It can only fail because it has been asked 2^64 times.
        let _ = self.wake.write(1);
    }
}

impl Engine {
    /// Plays until it is asked to stop; `ready` is called once packets are taken in.
    pub(crate) fn run(self, ready: impl FnOnce()) -> io::Result<Played> {
        // Without privileges a late timer is late by this much more; with real-time priority it has no effect.
        let _ = prctl::set_timerslack(1);
        let realtime = self.realtime && sys::run_realtime(ENGINE_PRIORITY).is_ok();
        let mut turn = Turn::new(self)?;
        ready();
        turn.play()?;
        let span = turn.engine.clock.now() - turn.started;
        let Turn { engine, ports, lateness, back_dating_capped, .. } = turn;
        let busy = thread_time();
        Ok(Played {
            network: engine.network,
            _devices: engine.devices,
            ports,
            lateness,
            back_dating_capped,
            span,
            busy,
            realtime,
        })
    }
}

/// The running thread.
struct Turn {
    engine: Engine,
    ports: [PortReport; 2],
    lateness: Histogram<u64>,
    back_dating_capped: u64,
    started: Time,
    poll: Epoll,
    timer: TimerFd,
    armed: Time,
    spinning: Spinning,
}

impl Turn {
    fn new(engine: Engine) -> io::Result<Self> {
        let poll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        // The timer is never read: each expiry wakes once, and setting it anew forgets the last.
        poll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, 0))?;
        poll.add(&engine.stop.wake, EpollEvent::new(EpollFlags::EPOLLIN, 1))?;
        for device in &engine.devices {
            poll.add(device, EpollEvent::new(EpollFlags::EPOLLIN, 2))?;
        }
        let lateness = Histogram::new_with_bounds(1, LATENESS_MAX, 3).map_err(io::Error::other)?;
        let started = engine.clock.now();
        Ok(Self {
            engine,
            ports: [PortReport::default(); 2],
            lateness,
            back_dating_capped: 0,
            started,
            poll,
            timer,
            armed: Time::NEVER,
            spinning: Spinning::default(),
        })
    }

    fn play(&mut self) -> io::Result<()> {
        while !self.engine.stop.asked.load(Ordering::Relaxed) {
            let delivered = self.deliver();
            let taken = self.take_in(0, BATCH, None)? + self.take_in(1, BATCH, None)?;
            if !delivered && taken == 0 {
                self.wait()?;
            }
        }
        Ok(())
    }

    /// Hands packets that are due to their hosts, and takes the answers in. Whether there were any.
    fn deliver(&mut self) -> bool {
        for handled in 0..BATCH {
            let now = self.engine.clock.now();
            let Some((due, bytes)) = self.engine.network.poll_packet(now) else { return handled > 0 };
            let port = usize::from(to_receiver(&bytes));
            let late = self.engine.clock.now() - due;
            self.lateness.saturating_record(late.ns());
            match write(&self.engine.devices[port], &bytes) {
                Ok(_) => add(&mut self.ports[port].written, bytes.len()),
                Err(_) => self.ports[port].refused += 1,
            }
            let written = self.engine.clock.now();
            self.engine.network.written(written);
            self.engine.network.recycle(bytes);
            // What the host answers at once it would have answered at once when the packet was due: its lateness
            // must not add up over a connection's life.
            if self.take_in(port, ANSWERS, Some(due)).is_err() {
                return true;
            }
        }
        true
    }

    /// Takes in what waits at a device: as sent at `cause`, within the cap, or else now.
    fn take_in(&mut self, port: usize, most: usize, cause: Option<Time>) -> io::Result<usize> {
        for taken in 0..most {
            let Engine { network, devices, mtu, clock, back_dating, .. } = &mut self.engine;
            let mut bytes = network.buffer();
            bytes.resize(*mtu as usize, 0);
            let length = match read(&devices[port], &mut bytes) {
                Ok(length) => length,
                Err(error) => {
                    network.recycle(bytes);
                    return match error {
                        Errno::EAGAIN | Errno::EINTR => Ok(taken),
                        other => Err(other.into()),
                    };
                }
            };
            bytes.truncate(length);
            add(&mut self.ports[port].read, length);
            let now = clock.now();
            let earliest = now - *back_dating;
            let sent = match cause {
                Some(cause) if cause >= earliest => cause,
                Some(_) => {
                    self.back_dating_capped += 1;
                    earliest
                }
                None => now,
            };
            if !network.handle_packet(sent, bytes) {
                self.ports[port].strays += 1;
            }
        }
        Ok(most)
    }

    /// Sleeps until shortly before something is due, or a packet comes; spins for the rest.
    fn wait(&mut self) -> io::Result<()> {
        let due = self.engine.network.poll_timeout();
        let now = self.engine.clock.now();
        if due <= now {
            return Ok(());
        }
        let spin = if self.spinning.allowed(now) { self.engine.spin } else { Time::ZERO };
        if due - now <= spin {
            self.spinning.spin(now);
            return Ok(());
        }
        self.spinning.rest();
        if due != Time::NEVER {
            let wake = due - spin;
            if wake != self.armed {
                let at = Expiration::OneShot(self.engine.clock.monotonic(wake));
                self.timer.set(at, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
                self.armed = wake;
            }
        }
        let mut events = [EpollEvent::empty(); 4];
        match self.poll.wait(&mut events, EpollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// By the destination's address: the networks of receivers have this bit.
fn to_receiver(bytes: &[u8]) -> bool {
    let at = if bytes[0] >> 4 == 6 { 38 } else { 18 };
    bytes[at] & 0x80 != 0
}

fn add(count: &mut Count, bytes: usize) {
    count.packets += 1;
    count.bytes += bytes as u64;
}
