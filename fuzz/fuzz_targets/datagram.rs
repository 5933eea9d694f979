//! Any bytes are a datagram that encodes to the same bytes, or an error; never a panic.
#![no_main]

use clearway_host::packet::{Datagram, PREFIX_BYTES};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((datagram, rest)) = Datagram::decode(bytes) {
        let mut again = vec![0; PREFIX_BYTES];
        datagram.encode(&mut again);
        again.extend(rest);
        assert_eq!(again, bytes);
    }
});
