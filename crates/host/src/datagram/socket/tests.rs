use rustix::event::{eventfd, EventfdFlags};

use super::*;

/// What never wakes.
fn never() -> OwnedFd {
    eventfd(0, EventfdFlags::CLOEXEC).unwrap()
}

fn exchange(datagrams: &[(usize, u8)], joined: bool) -> Vec<(usize, u8, Envelope)> {
    exchange_from(Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap(), datagrams, joined)
}

fn exchange_from(mut sender: Socket, datagrams: &[(usize, u8)], joined: bool) -> Vec<(usize, u8, Envelope)> {
    let mut receiver = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    sender.joined &= joined;
    let received = pass(&mut sender, &mut receiver, datagrams);
    assert!(received.iter().all(|(.., envelope)| envelope.from == sender.local_addr().unwrap()));
    received
}

fn pass(sender: &mut Socket, receiver: &mut Socket, datagrams: &[(usize, u8)]) -> Vec<(usize, u8, Envelope)> {
    let to = receiver.local_addr().unwrap();
    pass_to(sender, receiver, to, datagrams)
}

fn pass_to(
    sender: &mut Socket,
    receiver: &mut Socket,
    to: SocketAddr,
    datagrams: &[(usize, u8)],
) -> Vec<(usize, u8, Envelope)> {
    for &(len, byte) in datagrams {
        sender.outbox().add(|buffer| {
            buffer[..len].fill(byte);
            Some((len, to))
        });
    }
    sender.flush(|_, error| panic!("{error}"));
    let mut received = Vec::new();
    let mut looks = 0;
    while received.len() < datagrams.len() {
        receiver.wait(&never(), Span::from_secs(1)).unwrap();
        looks += 1;
        assert!(looks < 30, "{} of {} datagrams came", received.len(), datagrams.len());
        for run in 0..receiver.receive().unwrap() {
            let mut at = 0;
            while let Some((envelope, bytes)) = receiver.next(run, &mut at) {
                assert!(bytes.iter().all(|byte| byte == &bytes[0]));
                received.push((bytes.len(), bytes.first().copied().unwrap_or(0), envelope));
            }
        }
    }
    received
}

#[test]
fn datagrams_come_as_they_were_sent_joined_or_not() {
    let sent = [(100, 1), (100, 2), (100, 3), (40, 4), (100, 5), (300, 6), (0, 0), (1, 7), (1, 8)];
    for joined in [true, false] {
        let received: Vec<_> =
            exchange(&sent, joined).into_iter().map(|(len, byte, _)| (len, byte)).collect();
        assert_eq!(received, sent);
    }
}

#[test]
fn runs_are_of_one_length_and_one_peer() {
    let (here, there) = ("127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap());
    let mut outbox = Outbox::default();
    for (len, to) in [(9, here), (9, here), (5, here), (9, here), (9, there), (9, there), (10, there)] {
        outbox.add(|_| Some((len, to)));
    }
    let runs = |joined| {
        let (mut from, mut runs) = (0, Vec::new());
        while from < outbox.datagrams.len() {
            runs.push(outbox.run(from, joined));
            from += runs[runs.len() - 1];
        }
        runs
    };
    assert_eq!(runs(true), [3, 1, 2, 1]);
    assert_eq!(runs(false), [1; 7]);
}

#[test]
fn what_stays_in_the_outbox_stays_whole() {
    let to = "127.0.0.1:1".parse().unwrap();
    let mut outbox = Outbox::default();
    let put = |outbox: &mut Outbox, byte: u8| {
        outbox.add(|buffer| {
            buffer[..usize::from(byte)].fill(byte);
            Some((usize::from(byte), to))
        });
    };
    for byte in [5, 9, 7] {
        put(&mut outbox, byte);
    }
    outbox.forget(1);
    put(&mut outbox, 3);
    for (datagram, byte) in outbox.datagrams.iter().zip([9_u8, 7, 3]) {
        assert_eq!(outbox.bytes[datagram.start..][..datagram.len], vec![byte; usize::from(byte)]);
    }
    outbox.forget(3);
    assert!(outbox.is_empty() && outbox.used == 0);
}

#[test]
fn the_kernel_says_when_a_datagram_came_and_how_far() {
    // The kernel begins to stamp some time after a socket asked it to, and stops when none does any more.
    let asking = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut attempts = (0..500).flat_map(|_| {
        asking.wait(&never(), Span::from_ms(10)).unwrap();
        exchange(&[(10, 1)], true)
    });
    let stamped = attempts.find(|(.., envelope)| envelope.stamp.is_some());
    let (.., envelope) = stamped.expect("a stamp");
    assert_eq!(envelope.hops, 0);
    let sender = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    setsockopt(&sender.udp, Ipv4Ttl, &61).unwrap();
    let (.., far) = exchange_from(sender, &[(10, 1)], true)[0];
    assert_eq!(far.hops, 3);
}

#[test]
fn too_long_a_datagram_is_told() {
    let mut sender = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let to = sender.local_addr().unwrap();
    sender.outbox().add(|_| Some((MAX_DATAGRAM + 1, to)).filter(|_| true));
    let mut errors = Vec::new();
    sender.flush(|count, error| errors.push((count, error.raw_os_error())));
    assert_eq!(errors, [(1, Some(Errno::MSGSIZE.raw_os_error()))]);
}

#[test]
fn addresses_are_read_as_written() {
    for text in ["127.0.0.1:9", "[::1]:65535", "[fe80::1%3]:7"] {
        let address_in: SocketAddr = text.parse().unwrap();
        assert_eq!(address(&SockaddrStorage::from(address_in)), Some(address_in));
    }
}

/// The kernel says how much it told of each datagram, and the room for the next one must not shrink to that.
#[test]
fn what_is_told_of_later_datagrams_has_room() {
    let lone = [(10, 1)];
    let run: Vec<(usize, u8)> = (0..10).map(|byte| (1000, byte)).collect();
    let mut receiver = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut sender = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    for datagrams in [&lone[..], &run, &lone, &run] {
        assert_eq!(pass(&mut sender, &mut receiver, datagrams).len(), datagrams.len());
    }
}

/// An IPv6 socket hears of IPv4, too.
#[test]
fn a_sender_of_ipv4_is_heard_by_an_ipv6_socket_with_its_ttl() {
    let Ok(mut receiver) = Socket::bind("[::]:0".parse().unwrap()) else {
        println!("skipped: no IPv6 here");
        return;
    };
    let port = receiver.local_addr().unwrap().port();
    for (from, to) in [("127.0.0.1:0", "127.0.0.1"), ("[::1]:0", "::1")] {
        let Ok(mut sender) = Socket::bind(from.parse().unwrap()) else {
            println!("skipped: no {to} here");
            continue;
        };
        if to == "127.0.0.1" {
            setsockopt(&sender.udp, Ipv4Ttl, &61).unwrap();
        } else {
            setsockopt(&sender.udp, Ipv6Ttl, &61).unwrap();
        }
        let to = SocketAddr::new(to.parse().unwrap(), port);
        let (len, byte, envelope) = pass_to(&mut sender, &mut receiver, to, &[(10, 1)])[0];
        assert_eq!((len, byte, envelope.hops), (10, 1, 3));
        assert_eq!(envelope.from.ip().to_canonical(), to.ip());
    }
}

/// The kernel keeps what begins with the four bytes, and nothing else takes room.
#[test]
fn only_what_is_admitted_arrives() {
    let mut receiver = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    receiver.admit([1, 2, 3, 4]).unwrap();
    let to = receiver.local_addr().unwrap();
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    for bytes in [&[1, 2, 3, 5, 0][..], &[1, 2, 3], &[], &[0; 2000], &[1, 2, 3, 4, 9]] {
        stranger.send_to(bytes, to).unwrap();
    }
    receiver.wait(&never(), Span::from_secs(1)).unwrap();
    assert_eq!(receiver.receive().unwrap(), 1);
    assert_eq!(receiver.next(0, &mut 0).unwrap().1, [1, 2, 3, 4, 9]);
    // They are counted with those that found no room.
    assert_eq!(receiver.overflow(), 4);
}
