//! Fastpass in the simulator.

mod experiment;

use experiment::{floats, integers, run, run_on};

fn rack(rest: &str) -> String {
    format!(
        "format = 1\nname = 'rack'\nduration = '5ms'\nwarmup = '1ms'\n[network]\ntopology = 'star'\nhosts = 6\nrate = '10Gbps'\n\
         delay = '1us'\nmtu = '1448B'\n[transport.t]\nprotocol = 'fastpass'\nheader = '52B'\n[arbiter]\nat = 'h5'\n{rest}"
    )
}

#[test]
fn try_it() {
    let outcome = run(&rack("[[traffic]]\npattern = 'incast'\nfrom = '0..4'\nto = 4\n"));
    println!("{:?}", outcome.summary);
    for table in &outcome.tables {
        println!("{}", table.name);
        for (name, column) in &table.columns {
            println!("  {name} {column:?}");
        }
    }
}
