//! Who may talk to whom: a small certificate authority in a directory, and a certificate for each host.
//!
//! [`make()`] writes `ca.pem` and `ca.key`, and for each name `NAME.pem` and `NAME.key`. A host needs `ca.pem`, its own two files, and
//! not `ca.key`. Whoever has a certificate of the same authority is a peer: TLS is mutual, so both ends show one ([`Identity`]).

mod files;
mod identity;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    date_time_ymd, BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};

use crate::daemon::output::Problem;
pub use files::ANY_PEER;
use files::{names_in, path, AUTHORITY};
pub use identity::{names_of, CertificateState, Identity};

const DAY: Duration = Duration::from_secs(86_400);

/// When certificates hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// The first instant.
    pub from: SystemTime,
    /// The last instant.
    pub until: SystemTime,
}

impl Validity {
    /// `days` days from now on, and the day before: clocks of hosts differ.
    #[allow(clippy::disallowed_methods, reason = "certificates hold by the wall clock")]
    pub fn days(days: u32) -> Validity {
        let now = SystemTime::now();
        Validity { from: now - DAY, until: now + DAY * days }
    }
}

/// What [`make()`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Whether there was no authority before.
    pub authority: bool,
    /// The names that have a new certificate.
    pub names: Vec<String>,
}

/// Makes a certificate for each name in `directory`, and before that the directory and its authority where there is none. A name that has
/// one gets another, which holds for longer; nothing else is touched.
pub fn make(directory: &Path, names: &[String], validity: Validity) -> Result<Made, Problem> {
    names.iter().try_for_each(|name| check_name(name))?;
    fs::create_dir_all(directory).map_err(|error| {
        Problem::new(format!("{}: {error}", directory.display()), "name a directory that can be made")
    })?;
    let found = ["pem", "key"].map(|kind| path(directory, AUTHORITY, kind).exists());
    let authority = found == [false; 2];
    if found == [true, false] {
        let key = path(directory, AUTHORITY, "key");
        let remedy = "certificates are made where the authority's key is, and copied from there";
        return Err(Problem::new(format!("{}: there is no such file", key.display()), remedy));
    }
    let issuer = if authority { new_authority(directory, validity)? } else { old_authority(directory)? };
    for name in names {
        let made = certificate(name).and_then(|params| {
            let (params, key) = (with_validity(params, validity), KeyPair::generate()?);
            Ok((params.signed_by(&key, &issuer)?.pem(), key.serialize_pem()))
        });
        let (certificate, key) = made.map_err(|error| Problem::bare(format!("{name}: {error}")))?;
        write(directory, name, "key", &key)?;
        write(directory, name, "pem", &certificate)?;
    }
    Ok(Made { authority, names: names.to_vec() })
}

/// The names that have certificates in `directory`, and whether each holds.
pub fn states(directory: &Path) -> Result<Vec<(String, CertificateState)>, Problem> {
    let remedy = "make it by clearwayd keys DIR NAME";
    let told = |what: String| Problem::new(format!("{}: {what}", directory.display()), remedy);
    let names = names_in(directory).map_err(|error| told(error.to_string()))?;
    if names.is_empty() {
        return Err(told("there is no certificate of a host in it".into()));
    }
    let state = |name: String| Ok((name.clone(), Identity::read(directory, Some(&name))?.state()));
    names.into_iter().map(state).collect()
}

/// Names of files and of hosts alike.
fn check_name(name: &str) -> Result<(), Problem> {
    let label = |label: &str| {
        let dashes = label.starts_with('-') || label.ends_with('-');
        !label.is_empty()
            && label.len() < 64
            && !dashes
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let fits = name.parse::<IpAddr>().is_ok() || name.len() < 200 && name.split('.').all(label);
    if fits && name != AUTHORITY && name != ANY_PEER {
        return Ok(());
    }
    let remedy =
        "a name is that of a host, such as h0 or a.example: letters, digits, dashes and dots; ca is taken";
    Err(Problem::new(format!("{name:?} cannot have a certificate"), remedy))
}

fn with_validity(mut params: CertificateParams, validity: Validity) -> CertificateParams {
    let time = |at: SystemTime| date_time_ymd(1970, 1, 1) + at.duration_since(UNIX_EPOCH).unwrap_or_default();
    (params.not_before, params.not_after) = (time(validity.from), time(validity.until));
    params
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name.push(DnType::CommonName, "Clearway authority");
    params
}

fn certificate(name: &str) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(vec![name.to_string(), ANY_PEER.to_string()])?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn new_authority(directory: &Path, validity: Validity) -> Result<Issuer<'static, KeyPair>, Problem> {
    let made = KeyPair::generate().and_then(|key| {
        let params = with_validity(authority_params(), validity);
        Ok((params.self_signed(&key)?.pem(), params, key))
    });
    let (certificate, params, key) =
        made.map_err(|error| Problem::bare(format!("the authority: {error}")))?;
    write(directory, AUTHORITY, "key", &key.serialize_pem())?;
    write(directory, AUTHORITY, "pem", &certificate)?;
    Ok(Issuer::new(params, key))
}

fn old_authority(directory: &Path) -> Result<Issuer<'static, KeyPair>, Problem> {
    let file = path(directory, AUTHORITY, "key");
    let told = |error: &dyn std::fmt::Display| {
        Problem::new(format!("{}: {error}", file.display()), "is it the key that clearwayd keys made?")
    };
    let pem = fs::read_to_string(&file).map_err(|error| told(&error))?;
    let key = KeyPair::from_pem(&pem).map_err(|error| told(&error))?;
    Ok(Issuer::new(authority_params(), key))
}

/// Writes a file that takes its name when it is whole; a key only its owner can read.
fn write(directory: &Path, name: &str, kind: &str, text: &str) -> Result<(), Problem> {
    let (file, new) = (path(directory, name, kind), path(directory, name, &format!("{kind}.new")));
    let mode = if kind == "key" { 0o600 } else { 0o644 };
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(&new)
        .and_then(|mut open| open.write_all(text.as_bytes()).and_then(|()| open.sync_all()))
        .and_then(|()| fs::rename(&new, &file));
    written.map_err(|error| {
        let _ = fs::remove_file(&new);
        Problem::new(format!("{}: {error}", file.display()), "is there room, and may this user write there?")
    })
}
