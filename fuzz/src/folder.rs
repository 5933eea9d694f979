//! A folder for the files that a scenario names.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// What files hold, by their names.
pub(crate) type Texts<'a> = BTreeMap<&'a str, &'a [u8]>;

/// A folder of this thread's own, which goes with the thread.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// What was written last.
    held: BTreeMap<String, Vec<u8>>,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        let name = format!("clearway-fuzz-{}-{:?}", std::process::id(), std::thread::current().id());
        Folder { path: std::env::temp_dir().join(name), held: BTreeMap::new() }
    }

    /// Makes these the files of the folder.
    pub(crate) fn hold(&mut self, files: &Texts) {
        let gone: Vec<String> =
            self.held.keys().filter(|name| !files.contains_key(name.as_str())).cloned().collect();
        for name in gone {
            fs::remove_file(self.path.join(&name)).expect("a file that was written");
            self.held.remove(&name);
        }
        for (name, bytes) in files {
            if self.held.get(*name).is_none_or(|held| held != bytes) {
                let path = self.path.join(name);
                fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
                fs::write(path, bytes).expect("a file");
                self.held.insert((*name).to_string(), bytes.to_vec());
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover in the system's temporary directory does no harm.
        let _ = fs::remove_dir_all(&self.path);
    }
}
