//! Downloads single files of the model hub, and goes on where an earlier download ended.
//!
//! What has come so far lies in `<file>.part`, beside it the server's name for that version in `<file>.part.etag`. The hash is
//! held against the whole file, so a part of another file is found out at the end and thrown away.

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_api::{PullProgress, PullRequest};
use ureq::http::{Response, StatusCode, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};

use crate::stage::{self, Attempt, BLOCK, Trouble};
use crate::variant::ModelFile;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest silence of a server.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a broken download is taken up again, if bytes came since the last time.
const MAX_RESUMES: usize = 5;

/// The hub as a pull may use it.
pub(crate) struct Hub<'a> {
    agent: Agent,
    request: &'a PullRequest<'a>,
}

/// How one request ended.
enum End {
    /// All bytes are in the part.
    Whole,
    /// The connection broke; why.
    Cut(String),
    /// The part is of no use to the server; it was removed.
    StartOver,
}

impl<'a> Hub<'a> {
    pub(crate) fn new(request: &'a PullRequest<'a>) -> Attempt<Self> {
        if request.hub_offline {
            return Err(Trouble::Source(
                "not asked, because `HF_HUB_OFFLINE` is set".to_owned(),
            ));
        }
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .build();
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_resolve(Some(CONNECT_TIMEOUT))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_recv_response(Some(READ_TIMEOUT))
            .timeout_per_read(Some(READ_TIMEOUT))
            .user_agent(concat!("memory/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls);
        // A proxy is for other machines.
        if is_loopback(request.hub) {
            config = config.proxy(None);
        }
        Ok(Self {
            agent: config.build().into(),
            request,
        })
    }

    /// Downloads `<hub>/<repo>/resolve/<revision>/<name>` to `target`.
    pub(crate) fn fetch(
        &self,
        repo: &str,
        revision: &str,
        name: &str,
        want: &ModelFile,
        target: &Path,
    ) -> Attempt<()> {
        let hub = self.request.hub.trim_end_matches('/');
        let url = format!("{hub}/{repo}/resolve/{revision}/{name}");
        let part = Part::new(target, want.bytes);
        let (mut resumes, mut start_overs) = (0, 0);
        loop {
            let before = part.len()?;
            match self.once(&url, &part)? {
                End::Whole => break,
                End::StartOver if start_overs == 0 => start_overs += 1,
                End::StartOver => {
                    return Err(Trouble::Source(format!(
                        "`{name}` cannot be downloaded in parts or as a whole"
                    )));
                }
                End::Cut(reason) => {
                    if resumes == MAX_RESUMES || part.len()? <= before {
                        return Err(Trouble::Source(format!("`{name}`: {reason}")));
                    }
                    resumes += 1;
                }
            }
        }
        (self.request.progress)(PullProgress::Verifying);
        let sha256 = stage::hash_file(&part.path, self.request.cancel).map_err(Trouble::Fatal)?;
        if sha256 != want.sha256 {
            part.remove()?;
            return Err(Trouble::Source(format!(
                "{}; the download was removed",
                stage::mismatch(&sha256, want)
            )));
        }
        part.install(target)
    }

    /// Asks once for what is missing.
    fn once(&self, url: &str, part: &Part) -> Attempt<End> {
        stage::check(self.request.cancel).map_err(Trouble::Fatal)?;
        let have = part.len()?;
        if have == part.want {
            (self.request.progress)(PullProgress::Bytes {
                done: have,
                total: Some(have),
            });
            return Ok(End::Whole);
        }
        let mut get = self
            .agent
            .get(url)
            .header(header::ACCEPT_ENCODING, "identity");
        if have > 0 {
            get = get.header(header::RANGE, format!("bytes={have}-"));
            if let Some(etag) = part.etag() {
                get = get.header(header::IF_RANGE, etag);
            }
        }
        let mut response = match get.call() {
            Ok(response) => response,
            Err(error) => return Ok(End::Cut(unreachable(&error, url))),
        };
        let from = match response.status() {
            StatusCode::OK => 0,
            StatusCode::PARTIAL_CONTENT if have > 0 => {
                if !continues(&response, have, part.want) {
                    part.remove()?;
                    return Ok(End::StartOver);
                }
                have
            }
            StatusCode::RANGE_NOT_SATISFIABLE => {
                part.remove()?;
                return Ok(End::StartOver);
            }
            status => return Err(Trouble::Source(refusal(status))),
        };
        let length = text(&response, &header::CONTENT_LENGTH).and_then(|n| n.parse::<u64>().ok());
        if let Some(length) = length.filter(|length| *length != part.want - from) {
            return Err(Trouble::Source(format!(
                "the server's file has {} bytes, expected {}",
                from.saturating_add(length),
                part.want
            )));
        }
        let mut file = part.open(from, text(&response, &header::ETAG))?;
        self.receive(response.body_mut(), &mut file, from, part)
    }

    fn receive(&self, body: &mut Body, file: &mut File, from: u64, part: &Part) -> Attempt<End> {
        let mut reader = body.as_reader();
        let mut block = vec![0; BLOCK];
        let mut done = from;
        loop {
            stage::check(self.request.cancel).map_err(Trouble::Fatal)?;
            (self.request.progress)(PullProgress::Bytes {
                done,
                total: Some(part.want),
            });
            let bytes = match reader.read(&mut block) {
                Ok(n) => block.get(..n).unwrap_or_default(),
                Err(error) => return Ok(End::Cut(format!("the connection broke: {error}"))),
            };
            if bytes.is_empty() {
                break;
            }
            done += bytes.len() as u64;
            if done > part.want {
                part.remove()?;
                return Err(Trouble::Source(format!(
                    "the server sent more than the {} bytes expected",
                    part.want
                )));
            }
            file.write_all(bytes).map_err(|e| part.failed(&e))?;
        }
        if done < part.want {
            return Ok(End::Cut(format!(
                "the connection ended after {done} of {} bytes",
                part.want
            )));
        }
        file.sync_all().map_err(|e| part.failed(&e))?;
        Ok(End::Whole)
    }
}

/// A download on its way.
struct Part {
    path: PathBuf,
    etag_path: PathBuf,
    /// The bytes of the whole file.
    want: u64,
}

impl Part {
    fn new(target: &Path, want: u64) -> Self {
        let with = |suffix: &str| {
            let mut name = target.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        Self {
            path: with(".part"),
            etag_path: with(".part.etag"),
            want,
        }
    }

    fn failed(&self, error: &std::io::Error) -> Trouble {
        Trouble::Fatal(stage::write_error(error, &self.path))
    }

    /// Returns how much is there; removes what is longer than the file can be.
    fn len(&self) -> Attempt<u64> {
        let len = match self.path.metadata() {
            Ok(meta) => meta.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
            Err(error) => return Err(self.failed(&error)),
        };
        if len > self.want {
            self.remove()?;
            return Ok(0);
        }
        Ok(len)
    }

    /// Returns the server's name for the version that the part is of. Without one, the hash alone decides.
    fn etag(&self) -> Option<String> {
        let mut etag = String::new();
        let file = BufReader::new(File::open(&self.etag_path).ok()?);
        file.take(1024).read_to_string(&mut etag).ok()?;
        Some(etag)
    }

    /// Opens it for what follows its first `from` bytes.
    fn open(&self, from: u64, etag: Option<&str>) -> Attempt<File> {
        stage::make_parent(&self.path).map_err(Trouble::Fatal)?;
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .map_err(|e| self.failed(&e))?;
        if from == 0 {
            file.set_len(0).map_err(|e| self.failed(&e))?;
            // A weak name does not promise the same bytes.
            match etag.filter(|etag| etag.starts_with('"')) {
                Some(etag) => fs::write(&self.etag_path, etag).map_err(|e| self.failed(&e))?,
                None => self.remove_etag()?,
            }
        }
        Ok(file)
    }

    fn remove(&self) -> Attempt<()> {
        self.remove_etag()?;
        self.remove_file(&self.path)
    }

    fn remove_etag(&self) -> Attempt<()> {
        self.remove_file(&self.etag_path)
    }

    fn remove_file(&self, path: &Path) -> Attempt<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(self.failed(&error)),
            _ => Ok(()),
        }
    }

    fn install(&self, target: &Path) -> Attempt<()> {
        fs::rename(&self.path, target)
            .map_err(|e| Trouble::Fatal(stage::write_error(&e, target)))?;
        self.remove_etag()
    }
}

fn text<'a>(response: &'a Response<Body>, name: &header::HeaderName) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

/// Returns whether a part of a file begins where ours ends, and is of a file as long as ours.
fn continues(response: &Response<Body>, have: u64, want: u64) -> bool {
    let Some(range) = text(response, &header::CONTENT_RANGE) else {
        return false;
    };
    let Some((span, total)) = range
        .strip_prefix("bytes ")
        .and_then(|range| range.split_once('/'))
    else {
        return false;
    };
    let from = span.split_once('-').map(|(from, _)| from.parse::<u64>());
    from == Some(Ok(have)) && (total == "*" || total.parse::<u64>() == Ok(want))
}

fn refusal(status: StatusCode) -> String {
    let code = status.as_u16();
    match code {
        401 | 403 => format!("the hub refuses access ({code})"),
        404 => "the hub has no such file (404)".to_owned(),
        429 => "the hub asks for fewer requests (429); try again later".to_owned(),
        500.. => format!("the hub is out of order ({code}); try again later"),
        _ => format!("the hub answered with status {code}"),
    }
}

fn unreachable(error: &ureq::Error, url: &str) -> String {
    match error {
        ureq::Error::Timeout(_) => "the hub did not answer in time".to_owned(),
        ureq::Error::Io(error) => format!("the hub cannot be reached: {error}"),
        error => format!(
            "the hub cannot be reached: {}",
            without_login(&error.to_string(), url)
        ),
    }
}

/// An address may hold a login, which belongs in no message.
fn without_login(message: &str, url: &str) -> String {
    match url
        .split_once("://")
        .and_then(|(_, rest)| rest.split_once('@'))
    {
        Some((login, _)) if !login.contains('/') => message.replace(login, "…"),
        _ => message.to_owned(),
    }
}

fn is_loopback(hub: &str) -> bool {
    let authority = hub.split_once("://").map_or(hub, |(_, rest)| rest);
    let host = authority.split(['/', ':']).next().unwrap_or_default();
    matches!(host, "localhost" | "127.0.0.1") || authority.starts_with("[::1]")
}
