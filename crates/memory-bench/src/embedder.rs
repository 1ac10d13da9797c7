//! The embedder that runs on this machine: texts per second, seconds to the first vector, memory.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use futures::executor::block_on;
use memory_api::{Embedder, Role};

use crate::corpus::Corpus;
use crate::report::{Aim, Report, millis, rounded};
use crate::sample::{median, paired_ratio};
use crate::watch::{Took, peak_memory, seconds, time};
use crate::{Result, open};

const N_TEXTS: usize = 200;
/// About 95 tokens of English.
const TEXT_CHARS: usize = 380;
/// As many texts as a sync embeds in one call.
const BATCH: usize = 64;
/// Openings, each with the loading of the model.
const N_OPENINGS: usize = 5;
const QUESTION: &str = "Why do we use port 5433?";

const MEGABYTE: f64 = 1e6;

pub(crate) fn run() -> Result<Report> {
    let mut report = Report::default();
    let corpus = Corpus::find()?;
    let texts = corpus.texts(N_TEXTS, TEXT_CHARS)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    report.figure(
        "texts",
        format!("{N_TEXTS} of {TEXT_CHARS} characters, {}", corpus.name),
    );
    // Memory first: every further opening would be held against the peak.
    throughput(&texts, &mut report)?;
    memory(&mut report);
    first_vector(&mut report)?;
    Ok(report)
}

/// Embeds all texts twice: many a call, and one a call.
fn throughput(texts: &[&str], report: &mut Report) -> Result<()> {
    let embedder = open::embedder()?;
    embed(&*embedder, &[QUESTION], Role::Query)?;
    let (mut batches, mut singles) = (Vec::new(), Vec::new());
    for chunk in texts.chunks(BATCH) {
        batches.push(time(|| embed(&*embedder, chunk, Role::Document))?.1);
        singles.push(
            time(|| {
                chunk
                    .iter()
                    .try_for_each(|text| embed(&*embedder, &[text], Role::Document))
            })?
            .1,
        );
    }
    for (name, took) in [
        (format!("{BATCH} a call"), &batches),
        ("1 a call".to_owned(), &singles),
    ] {
        let per_second = |sum: f64| rounded(texts.len() as f64 / sum);
        let wall = took.iter().map(|took| took.wall).sum();
        let cpu: Option<f64> = took.iter().map(|took| took.cpu).sum();
        report.figure(format!("texts/s, {name}"), per_second(wall));
        report.figure(
            format!("texts per CPU-second, {name}"),
            cpu.map_or_else(|| "not known".to_owned(), per_second),
        );
    }
    // The last chunk is a short one.
    let full = texts.len() / BATCH;
    let wall = |took: &[Took]| -> Vec<f64> { took.iter().take(full).map(|t| t.wall).collect() };
    report.ratio(
        format!("embedder: {BATCH} texts, one by one / in one call"),
        paired_ratio(&wall(&singles), &wall(&batches)),
        Aim::AtLeast(1.8),
    );
    Ok(())
}

fn memory(report: &mut Report) {
    let Some(peak) = peak_memory() else {
        report.figure("peak memory", "not known");
        return;
    };
    let megabytes = peak as f64 / MEGABYTE;
    report.figure("peak memory", format!("{} MB", rounded(megabytes)));
    report.ratio(
        "embedder: peak memory / 1 MB",
        megabytes,
        Aim::AtMost(250.0),
    );
}

/// Loads the model and embeds one question, again and again, and reads the file in between.
fn first_vector(report: &mut Report) -> Result<()> {
    let file = open::model_file()?;
    let (mut first, mut read) = (Vec::new(), Vec::new());
    for _ in 0..N_OPENINGS {
        read.push(seconds(|| read_through(&file))?);
        first.push(seconds(|| {
            embed(&*open::embedder()?, &[QUESTION], Role::Query)
        })?);
    }
    report.figure("first vector, with loading", millis(median(&first)));
    report.figure("reading the model file", millis(median(&read)));
    report.ratio(
        "embedder: first vector / reading the model file",
        paired_ratio(&first, &read),
        Aim::AtMost(15.0),
    );
    Ok(())
}

fn embed(embedder: &dyn Embedder, texts: &[&str], role: Role) -> Result<()> {
    let rows = block_on(embedder.embed(texts, role))?;
    if rows.rows().len() == texts.len() {
        Ok(())
    } else {
        Err("the embedder left texts out".into())
    }
}

/// Reads every byte of a file, or of the files in a folder.
fn read_through(path: &Path) -> Result<u64> {
    if path.is_dir() {
        return std::fs::read_dir(path)?
            .map(|entry| read_through(&entry?.path()))
            .sum();
    }
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    let mut n_bytes = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(n_bytes),
            n => n_bytes += n as u64,
        }
    }
}
