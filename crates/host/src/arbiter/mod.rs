//! What a Fastpass arbiter needs of a real host, beside the machine itself in `clearway-proto`.

pub mod pipeline;
