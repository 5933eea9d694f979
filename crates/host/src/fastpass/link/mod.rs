//! FCP over UDP: sealed datagrams between arbiters and endpoints, whose keys come from control channels.
//!
//! Every endpoint and every arbiter dials every other arbiter, so that two arbiters have two sessions; each on a control channel with mutual TLS
//! ([`opening`]). The two certificates' names say who is who: only the host that the deployment names as the arbiter of a rank is
//! heard as that arbiter, and only the host with an address may ask for slots of that address. What the channel's ends then share
//! seals their datagrams ([`wire`]); replayed ones are ignored. One socket has all of a process' sessions.
//!
//! The end that has dialed sends a *ping* every [`PING`](wire::PING), and the other answers: that tells how far their clocks are apart
//! ([`clock`]), and that the session is alive. One that is not is opened anew.

pub mod clock;
pub mod node;
pub mod opening;
pub mod wire;
