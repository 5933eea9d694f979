use std::net::UdpSocket;
use std::sync::mpsc;
use std::thread;

use super::outcome::FAILED;
use super::*;
use crate::daemon::receive::{Place, Receiving};

/// A name whose first address is nobody's, as `localhost` where the receiver listens at one of two.
#[test]
fn the_next_address_is_tried_where_one_does_not_answer() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (tell, address) = mpsc::channel();
    let receiver = thread::spawn(move || {
        let mut socket = Socket::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        tell.send(socket.local_addr().unwrap()).unwrap();
        let mut receiving = Receiving::new(Place { out: None, idle_timeout: Span::from_secs(5) });
        let mut ended = None;
        drive(&mut socket, &mut Clock::start(), &mut receiving, |receiving, _| {
            ended = ended.take().or(receiving.poll_transfer());
            ended.is_some() && receiving.is_quiet()
        })
        .unwrap();
        ended.expect("a transfer").received.payload
    });
    let line = "send --to host:9 --operations 3 --size 10kB --idle-timeout 400ms --base-target 5ms";
    let Ok(Command::Send(args)) = args::read(line.split(' ').map(OsString::from)) else {
        panic!("nothing is wrong")
    };
    let (silent, answers) = (silent.local_addr().unwrap(), address.recv().unwrap());
    assert_eq!(send_to(&args, &[silent, answers]), Ok(0));
    assert_eq!(receiver.join().unwrap(), 30_000);
    assert_eq!(send_to(&args, &[silent, silent]), Ok(FAILED));
}
