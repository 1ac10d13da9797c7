//! Which of the states that a disk may be in are looked at.

use std::collections::{BTreeMap, BTreeSet};

use super::disk::{Change, Disk, Id, Kept, Part, SECTOR};
use super::history::Op;
use crate::Result;
use crate::script::Random;

/// States of chance per moment, of each kind.
const N_CHANCES: u64 = 3;

/// A moment, and what of that which is not synced by then is on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// So many changes were made.
    pub(crate) n_ops: usize,
    pub(crate) variant: Variant,
    /// The state of the tree that was indexed.
    pub(crate) round: usize,
    /// The last step that was heard.
    pub(crate) step: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    Nothing,
    Everything,
    /// Every name, of files without what was written to them.
    Names,
    /// What was written, without new names.
    Contents,
    /// The names in one folder; or what was written to one file, with every name.
    Only(Id),
    Without(Id),
    /// Of each file and folder a part, the last write torn.
    Prefixes(u64),
    /// Of each file some writes without those before them.
    Scattered(u64),
}

impl Variant {
    /// Says what is kept of a file or folder.
    pub(crate) fn keep(self, id: Id, part: Part<'_>) -> Kept {
        let is_folder = matches!(part, Part::Folder(_));
        let all = match self {
            Self::Nothing => false,
            Self::Everything => true,
            Self::Names => is_folder,
            Self::Contents => !is_folder,
            Self::Only(only) => id == only,
            Self::Without(without) => id != without,
            Self::Prefixes(seed) => return prefix(&mut of(seed, id), part),
            Self::Scattered(seed) => {
                let mut random = of(seed, id);
                return match part {
                    Part::Folder(_) => prefix(&mut random, part),
                    Part::File(changes) => {
                        Kept::Marked(changes.iter().map(|_| random.below(2) == 0).collect())
                    }
                };
            }
        };
        if all { Kept::ALL } else { Kept::NONE }
    }

    /// Returns the variants of a moment.
    fn all(disk: &Disk, random: &mut Random) -> Vec<Self> {
        let mut variants = vec![Self::Nothing, Self::Everything, Self::Names, Self::Contents];
        let unsynced = disk.unsynced();
        for (id, _) in &unsynced {
            variants.extend([Self::Only(*id), Self::Without(*id)]);
        }
        for _ in 0..N_CHANCES {
            variants.push(Self::Prefixes(random.below(u64::MAX)));
            variants.push(Self::Scattered(random.below(u64::MAX)));
        }
        variants
    }
}

/// Each file and folder has a chance of its own.
fn of(seed: u64, id: Id) -> Random {
    Random::new(seed ^ (id as u64).wrapping_mul(0x9e37_79b9))
}

fn prefix(random: &mut Random, part: Part<'_>) -> Kept {
    let n = match part {
        Part::File(changes) => changes.len(),
        Part::Folder(n) => n,
    };
    let first = usize::try_from(random.below(n as u64 + 1)).unwrap_or_default();
    let torn = match part {
        Part::File(changes) if random.below(2) == 0 => {
            changes.get(first).map_or(0, |next| torn(random, next))
        }
        _ => 0,
    };
    Kept::First(first, torn)
}

/// Returns how much of a write is there when it ends at a border of sectors.
fn torn(random: &mut Random, change: &Change) -> u64 {
    let Change::Write { at, bytes } = change else {
        return 0;
    };
    let end = at + bytes.len() as u64;
    let (first, last) = (at / SECTOR + 1, end.saturating_sub(1) / SECTOR);
    if last < first {
        return 0;
    }
    (first + random.below(last - first + 1)) * SECTOR - at
}

/// Returns every different state, by the step after which the machine stopped, of the time of the last process.
///
/// What is not synced only grows until something is synced, so all states of the moments before are among those of the moment
/// right before a sync.
pub(crate) fn all(ops: &[Op], seed: u64) -> Result<BTreeMap<String, Vec<Choice>>> {
    let mut disk = Disk::new();
    let mut random = Random::new(seed);
    let mut seen = BTreeSet::new();
    let mut choices: BTreeMap<String, Vec<Choice>> = BTreeMap::new();
    let (mut round, mut step) = (0, String::new());
    for (n_ops, op) in ops.iter().map(Some).chain([None]).enumerate() {
        if matches!(op, Some(Op::Sync { .. }) | None) {
            for variant in Variant::all(&disk, &mut random) {
                if seen.insert(disk.signature(&|id, part| variant.keep(id, part))) {
                    choices.entry(step.clone()).or_default().push(Choice {
                        n_ops,
                        variant,
                        round,
                        step: step.clone(),
                    });
                }
            }
        }
        if matches!(op, Some(Op::Begin)) {
            choices.clear();
        }
        if let Some(Op::Mark(mark)) = op {
            match mark.strip_prefix("round ") {
                Some(n) => round = n.parse()?,
                None => step.clone_from(mark),
            }
        }
        if let Some(op) = op {
            disk.apply(op)?;
        }
    }
    Ok(choices)
}

/// The moment right before something is synced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) n_ops: usize,
    pub(crate) round: usize,
    /// The name of the file or folder, without the number of its generation.
    pub(crate) file: String,
}

/// Returns the moments before each sync, by what is synced.
pub(crate) fn syncs(ops: &[Op]) -> Result<Vec<Vec<Moment>>> {
    let mut names = BTreeMap::new();
    let mut syncs: BTreeMap<String, Vec<Moment>> = BTreeMap::new();
    let mut round = 0;
    for (n_ops, op) in ops.iter().enumerate() {
        match op {
            Op::Begin => names.clear(),
            Op::Mark(mark) => {
                if let Some(n) = mark.strip_prefix("round ") {
                    round = n.parse()?;
                }
            }
            Op::Open { handle, path, .. } => {
                let name = path.rsplit('/').next().unwrap_or_default();
                let name = name.trim_start_matches(|char: char| char.is_ascii_digit());
                names.insert(*handle, name.to_owned());
            }
            Op::Sync { handle } => {
                let file = names.get(handle).cloned().unwrap_or_default();
                syncs
                    .entry(file.clone())
                    .or_default()
                    .push(Moment { n_ops, round, file });
            }
            _ => {}
        }
    }
    Ok(syncs.into_values().collect())
}

/// Takes one of them: each file has the same chance, however often it is synced.
pub(crate) fn sync<'a>(syncs: &'a [Vec<Moment>], random: &mut Random) -> Option<&'a Moment> {
    let mut below = |n: usize| usize::try_from(random.below(n.max(1) as u64)).ok();
    let of_file = syncs.get(below(syncs.len())?)?;
    of_file.get(below(of_file.len())?)
}

/// Takes at most `n` of them, from each step the same number as far as there are so many, in the order of their moments.
pub(crate) fn sample(mut all: BTreeMap<String, Vec<Choice>>, n: usize, seed: u64) -> Vec<Choice> {
    let mut random = Random::new(seed);
    let mut taken = Vec::new();
    while taken.len() < n && !all.is_empty() {
        all.retain(|_, choices| {
            if taken.len() < n && !choices.is_empty() {
                let at = random.below(choices.len() as u64);
                taken.push(choices.swap_remove(usize::try_from(at).unwrap_or_default()));
            }
            !choices.is_empty()
        });
    }
    taken.sort_by_key(|choice| choice.n_ops);
    taken
}
