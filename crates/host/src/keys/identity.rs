//! A host's own certificate and key, read and held against the clock, and the TLS that it talks with.

use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{CertificateError, ClientConfig, RootCertStore, ServerConfig};
use time::OffsetDateTime;

use super::files::{names_in, path, ANY_PEER, AUTHORITY};
use crate::daemon::output::Problem;

/// The protocol of control channels, as TLS negotiates it (RFC 7301).
const PROTOCOL: &[u8] = b"clearway";
/// A century from now on: no certificate of ours holds as long.
const FAR: u64 = 100 * 365 * 86_400;

/// Whether a certificate holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateState {
    /// It does, until this instant (seconds since 1970).
    Holds(u64),
    /// It did, until this instant.
    Expired(u64),
    /// It will, from this instant on.
    NotYet(u64),
    /// Another authority has signed it, or nobody.
    Foreign,
}

impl Display for CertificateState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CertificateState::Holds(until) => write!(f, "holds until {}", date(*until)),
            CertificateState::Expired(then) => write!(f, "has expired, on {}", date(*then)),
            CertificateState::NotYet(then) => write!(f, "does not hold before {}", date(*then)),
            CertificateState::Foreign => {
                write!(f, "is signed by another authority than the ca.pem beside it")
            }
        }
    }
}

/// A host's certificate, key and authority.
#[derive(Debug)]
pub struct Identity {
    name: String,
    file: PathBuf,
    authority: Arc<RootCertStore>,
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    verifier: Arc<dyn ClientCertVerifier>,
}

/// Names in a certificate, but for the one that all have.
pub fn names_of(certificate: &CertificateDer<'_>) -> Vec<String> {
    let nobody = ServerName::try_from("nobody.invalid").expect("a name");
    let told = ParsedCertificate::try_from(certificate).map(|parsed| verify_server_name(&parsed, &nobody));
    let Ok(Err(rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext {
        presented,
        ..
    }))) = told
    else {
        return Vec::new();
    };
    let plain = |name: &String| match name.split_once("(\"") {
        Some((_, rest)) => rest.trim_end_matches("\")").to_string(),
        None => name.clone(),
    };
    presented.iter().map(plain).filter(|name| name != ANY_PEER).collect()
}

fn problem(file: &Path, error: impl Display, remedy: &str) -> Problem {
    Problem::new(format!("{}: {error}", file.display()), remedy)
}

fn certificate(file: &Path) -> Result<CertificateDer<'static>, Problem> {
    CertificateDer::from_pem_file(file)
        .map_err(|error| problem(file, said(&error), "make it by clearwayd keys"))
}

fn said(error: &rustls::pki_types::pem::Error) -> String {
    match error {
        rustls::pki_types::pem::Error::Io(error) => error.to_string(),
        rustls::pki_types::pem::Error::NoItemsFound => "there is no certificate or key in it".into(),
        other => other.to_string(),
    }
}

impl Identity {
    /// Reads the certificate and key of `name` in a directory that [`make`](super::make()) made. Without a name it is the host's own, or the
    /// only one there. One that does not hold is read, too: [`Self::check`] tells.
    pub fn read(directory: &Path, name: Option<&str>) -> Result<Identity, Problem> {
        let name = match name {
            Some(name) => name.to_string(),
            None => the_only_one(directory)?,
        };
        let root = path(directory, AUTHORITY, "pem");
        let mut authority = RootCertStore::empty();
        authority
            .add(certificate(&root)?)
            .map_err(|error| problem(&root, error, "make it by clearwayd keys"))?;
        let file = path(directory, &name, "pem");
        let own = certificate(&file)?;
        let key = path(directory, &name, "key");
        let remedy =
            "a host needs its certificate and its key, and whoever runs this must be able to read both";
        let key = PrivateKeyDer::from_pem_file(&key).map_err(|error| problem(&key, said(&error), remedy))?;
        let authority = Arc::new(authority);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(authority.clone(), provider)
            .build()
            .map_err(|error| problem(&root, error, "make it by clearwayd keys"))?;
        Ok(Identity { name, file, authority, certificate: own, key, verifier })
    }

    /// The name that it was read by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether its certificate holds now.
    #[allow(clippy::disallowed_methods, reason = "certificates hold by the wall clock")]
    pub fn state(&self) -> CertificateState {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let at = |secs| {
            let time = UnixTime::since_unix_epoch(std::time::Duration::from_secs(secs));
            self.verifier.verify_client_cert(&self.certificate, &[], time).map(drop)
        };
        match at(now) {
            Ok(()) => match at(now + FAR) {
                Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
                    not_after,
                    ..
                })) => CertificateState::Holds(not_after.as_secs()),
                _ => CertificateState::Holds(now + FAR),
            },
            Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
                not_after, ..
            })) => CertificateState::Expired(not_after.as_secs()),
            Err(rustls::Error::InvalidCertificate(CertificateError::NotValidYetContext {
                not_before,
                ..
            })) => CertificateState::NotYet(not_before.as_secs()),
            Err(_) => CertificateState::Foreign,
        }
    }

    /// The directory that it was read from.
    pub fn directory(&self) -> &Path {
        self.file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// An error where its certificate does not hold now.
    pub fn check(&self) -> Result<(), Problem> {
        let state = self.state();
        let remedy = match state {
            CertificateState::Holds(_) => return Ok(()),
            CertificateState::Expired(_) => {
                "make another one by clearwayd keys; and is this host's clock right?"
            }
            CertificateState::NotYet(_) => "is this host's clock right?",
            CertificateState::Foreign => "copy both from the directory where clearwayd keys made them",
        };
        Err(problem(&self.file, format!("it {state}"), remedy))
    }

    fn trouble(&self, error: impl Display) -> Problem {
        problem(&self.file, error, "do the certificate and its key belong together?")
    }

    /// TLS for whom others dial: they must show a certificate of the same authority.
    pub fn server(&self) -> Result<QuicServerConfig, Problem> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map(|config| config.with_client_cert_verifier(self.verifier.clone()))
            .and_then(|config| config.with_single_cert(vec![self.certificate.clone()], self.key.clone_key()));
        let mut config = config.map_err(|error| self.trouble(error))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        QuicServerConfig::try_from(config).map_err(|error| self.trouble(error))
    }

    /// TLS for who dials others.
    pub fn client(&self) -> Result<QuicClientConfig, Problem> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map(|config| config.with_root_certificates(self.authority.clone()))
            .and_then(|config| {
                config.with_client_auth_cert(vec![self.certificate.clone()], self.key.clone_key())
            });
        let mut config = config.map_err(|error| self.trouble(error))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        QuicClientConfig::try_from(config).map_err(|error| self.trouble(error))
    }
}

/// The name of the certificate that is meant where none is named.
fn the_only_one(directory: &Path) -> Result<String, Problem> {
    let names = names_in(directory).map_err(|error| {
        problem(directory, error, "make it by clearwayd keys DIR NAME, or name another one by --keys")
    })?;
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    match &names[..] {
        [only] => Ok(only.clone()),
        [] => Err(problem(
            directory,
            "there is no certificate of a host in it",
            "make one by clearwayd keys DIR NAME",
        )),
        _ if names.contains(&host) => Ok(host),
        _ => Err(problem(
            directory,
            format!("there are certificates of {}", names.join(", ")),
            "say by --name which of them is this host's",
        )),
    }
}

/// A day as people write it, in UTC.
pub(super) fn date(secs: u64) -> String {
    let then = i64::try_from(secs).ok().and_then(|secs| OffsetDateTime::from_unix_timestamp(secs).ok());
    then.map_or("a day beyond all calendars".into(), |then| then.date().to_string())
}
