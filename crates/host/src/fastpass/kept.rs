//! The newest term that an arbiter has known, kept across restarts, so that no term of its own ever comes twice.
//!
//! It is written before anything is said in a new term. A process that is killed leaves what it wrote; after a power failure an
//! older number may be there, but endpoints have forgotten their terms by the time that a machine is back.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::daemon::output::Problem;

/// A number in a file, which takes its place whole.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    number: u32,
}

impl Kept {
    /// The number in `directory` under this name; zero where there is none. The directory is made if need be.
    pub fn open(directory: &Path, name: &str) -> Result<Kept, Problem> {
        let path = directory.join(name);
        let remedy = "name a directory that this user can write, by --state";
        let told = |error: io::Error| Problem::new(format!("{}: {error}", path.display()), remedy);
        fs::create_dir_all(directory).map_err(told)?;
        let number = match fs::read_to_string(&path) {
            Ok(text) => text.trim().parse().map_err(|_| {
                let message = format!("{}: found {:?}, expected a number", path.display(), text.trim());
                Problem::new(message, "remove the file if no other process of this deployment runs")
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(told(error)),
        };
        let mut kept = Kept { path: path.clone(), number };
        // Whether it can be written is better known now.
        kept.write(number).map_err(told)?;
        Ok(kept)
    }

    /// The number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Keeps another number.
    pub fn write(&mut self, number: u32) -> io::Result<()> {
        let new = self.path.with_extension("new");
        let mut file = fs::File::create(&new)?;
        writeln!(file, "{number}")?;
        drop(file);
        fs::rename(&new, &self.path)?;
        self.number = number;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outlives_who_wrote_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("state");
        let mut kept = Kept::open(&place, "a0.term").unwrap();
        assert_eq!(kept.number(), 0);
        kept.write(7).unwrap();
        assert_eq!(Kept::open(&place, "a0.term").unwrap().number(), 7);
        assert_eq!(Kept::open(&place, "a1.term").unwrap().number(), 0);
    }

    #[test]
    fn what_is_no_number_or_no_directory_is_told_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a0.term"), "seven").unwrap();
        let problem = Kept::open(folder.path(), "a0.term").unwrap_err();
        assert!(problem.message.contains("found \"seven\", expected a number"), "{problem:?}");
        let problem = Kept::open(&folder.path().join("a0.term"), "x").unwrap_err();
        assert!(problem.remedy.unwrap().contains("--state"));
    }
}
