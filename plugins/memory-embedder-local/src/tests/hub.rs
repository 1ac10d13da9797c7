use std::fs;

use memory_api::ErrorKind;
use tempfile::TempDir;

use super::double::{Answer, HubDouble};
use super::tiny::{Pull, files, variant};
use crate::catalogue::Source;
use crate::stage;

const HUB: Source = Source::Hub {
    repo: "who/what",
    revision: "0123456789abcdef",
};
const PATH: &str = "/who/what/resolve/0123456789abcdef/model.bin";
const PART: &str = "models/tiny/model.bin.part";

fn content() -> Vec<u8> {
    (0..600_000_u32)
        .map(|i| (i * 7 + i / 255).to_le_bytes()[0])
        .collect()
}

/// Pulls `content` from a hub that answers like this, over a part that an earlier pull left.
fn pull(left: Option<&[u8]>, answers: &[Answer]) -> (TempDir, memory_api::Result<()>, Vec<String>) {
    let cache = tempfile::tempdir().unwrap();
    if let Some(left) = left {
        fs::create_dir_all(cache.path().join("models/tiny")).unwrap();
        fs::write(cache.path().join(PART), left).unwrap();
        fs::write(cache.path().join(format!("{PART}.etag")), "\"one\"").unwrap();
    }
    let content = content();
    let hub = HubDouble::start(&content, answers);
    let mut pull = Pull::new(variant(&[("tiny/model.bin", &content)]), cache.path());
    pull.sources = vec![HUB];
    pull.hub.clone_from(&hub.url);
    let result = pull.run().map(|path| {
        assert_eq!(fs::read(&path).unwrap(), content);
        assert_eq!(files(cache.path()), ["models/tiny/model.bin"]);
        assert!(pull.said("done: 600000, total: Some(600000)"));
    });
    drop(pull);
    (cache, result, hub.asked())
}

fn fails(left: Option<&[u8]>, answers: &[Answer], says: &str, leaves: &[&str]) {
    let (cache, result, _) = pull(left, answers);
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains(says), "{error}");
    assert!(
        error.message().contains(": hub who/what@01234567: "),
        "{error}"
    );
    assert!(
        error
            .hint()
            .unwrap()
            .contains("memory model pull tiny --file")
    );
    assert_eq!(files(cache.path()), leaves);
}

#[test]
fn a_file_is_downloaded_whole() {
    let (_cache, result, asked) = pull(None, &[Answer::Serve]);
    result.unwrap();
    assert_eq!(asked, [PATH]);
}

#[test]
fn a_redirect_is_followed() {
    let (_cache, result, asked) = pull(None, &[Answer::Redirect, Answer::Serve]);
    result.unwrap();
    assert_eq!(asked, [PATH, "/elsewhere"]);
}

#[test]
fn a_broken_download_goes_on_where_it_ended() {
    let (_cache, result, asked) =
        pull(None, &[Answer::Cut(300_000), Answer::Cut(1), Answer::Serve]);
    result.unwrap();
    assert_eq!(
        asked,
        [
            PATH.to_owned(),
            format!("{PATH} bytes=300000- \"one\""),
            format!("{PATH} bytes=300001- \"one\""),
        ]
    );
}

#[test]
fn a_weak_name_of_a_version_is_not_asked_by() {
    let (_cache, result, asked) = pull(None, &[Answer::CutWeak(300_000), Answer::Serve]);
    result.unwrap();
    assert_eq!(asked, [PATH.to_owned(), format!("{PATH} bytes=300000-")]);
}

#[test]
fn a_server_that_brings_nothing_is_given_up() {
    let answers = [Answer::Cut(1000), Answer::Cut(0)];
    fails(
        None,
        &answers,
        "the connection",
        &[PART, "models/tiny/model.bin.part.etag"],
    );
}

#[test]
fn what_an_earlier_pull_left_is_used() {
    let (_cache, result, asked) = pull(Some(&content()[..123_456]), &[Answer::Serve]);
    result.unwrap();
    assert_eq!(asked, [format!("{PATH} bytes=123456- \"one\"")]);
    // All of it was there; nobody has to be asked.
    let (_cache, result, asked) = pull(Some(&content()), &[]);
    result.unwrap();
    assert!(asked.is_empty());
}

#[test]
fn a_server_without_ranges_starts_over() {
    let (_cache, result, asked) = pull(Some(&[1; 1000]), &[Answer::Whole]);
    result.unwrap();
    assert_eq!(asked.len(), 1);
}

#[test]
fn a_part_that_fits_nothing_starts_over() {
    for answer in [Answer::Status(416), Answer::OtherPart, Answer::OtherTotal] {
        let (_cache, result, asked) = pull(Some(&[1; 1000]), &[answer, Answer::Serve]);
        result.unwrap();
        assert_eq!(
            asked,
            [format!("{PATH} bytes=1000- \"one\""), PATH.to_owned()]
        );
    }
    let (_cache, result, asked) = pull(Some(&vec![1; 600_001]), &[Answer::Serve]);
    result.unwrap();
    assert_eq!(asked, [PATH]);
}

#[test]
fn a_wrong_hash_removes_the_download() {
    let says = "the download was removed";
    fails(Some(&[1; 1000]), &[Answer::Serve], says, &[]);
}

#[test]
fn more_than_was_expected_is_not_kept() {
    fails(None, &[Answer::TooMuch], "more than the 600000 bytes", &[]);
    let cache = tempfile::tempdir().unwrap();
    let hub = HubDouble::start(b"another file", &[Answer::Serve]);
    let mut pull = Pull::new(variant(&[("tiny/model.bin", &content())]), cache.path());
    pull.sources = vec![HUB];
    pull.hub.clone_from(&hub.url);
    let error = pull.run().unwrap_err();
    assert!(
        error.message().contains("has 12 bytes, expected 600000"),
        "{error}"
    );
}

#[test]
fn a_refusal_says_why() {
    for (code, says) in [
        (401, "refuses access (401)"),
        (403, "refuses access (403)"),
        (404, "has no such file (404)"),
        (429, "fewer requests (429)"),
        (503, "out of order (503)"),
        (418, "status 418"),
    ] {
        fails(None, &[Answer::Status(code)], says, &[]);
    }
    fails(None, &[], "cannot be reached", &[]);
}

#[test]
fn an_offline_hub_is_not_asked() {
    let cache = tempfile::tempdir().unwrap();
    let hub = HubDouble::start(&content(), &[]);
    let mut pull = Pull::new(variant(&[("tiny/model.bin", &content())]), cache.path());
    pull.sources = vec![HUB];
    pull.hub.clone_from(&hub.url);
    pull.offline = true;
    let error = pull.run().unwrap_err();
    assert!(
        error.message().contains("`HF_HUB_OFFLINE` is set"),
        "{error}"
    );
    assert!(pull.said("Failed"));
    assert!(hub.asked().is_empty());
}

#[test]
fn a_stopped_download_keeps_what_it_has() {
    let cache = tempfile::tempdir().unwrap();
    let content = content();
    let hub = HubDouble::start(&content, &[Answer::Serve, Answer::Serve]);
    let mut pull = Pull::new(variant(&[("tiny/model.bin", &content)]), cache.path());
    pull.sources = vec![HUB];
    pull.hub.clone_from(&hub.url);
    pull.cancel_after = Some(1);
    assert_eq!(pull.run().unwrap_err().kind(), ErrorKind::Closed);
    let kept = fs::metadata(cache.path().join(PART)).unwrap().len();
    assert!(kept > 0 && kept < 600_000, "{kept}");
    pull.cancel_after = None;
    pull.cancel
        .store(false, std::sync::atomic::Ordering::Relaxed);
    pull.run().unwrap();
    assert_eq!(hub.asked()[1], format!("{PATH} bytes={kept}- \"one\""));
}

#[test]
fn two_pulls_at_once_do_not_meet() {
    let cache = tempfile::tempdir().unwrap();
    let models = cache.path().join("models");
    fs::create_dir_all(&models).unwrap();
    let lock = fs::File::create(models.join(".tiny.lock")).unwrap();
    lock.lock().unwrap();
    let pull = Pull::new(variant(&[("tiny/model.bin", b"x")]), cache.path());
    let error = pull.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error.message().contains("pulled by another process"),
        "{error}"
    );
}

#[test]
fn a_full_disk_is_named() {
    let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
    let error = stage::write_error(&full, "here".as_ref());
    assert_eq!(error.message(), "the disk is full: cannot write `here`");
    // A place that cannot be written stops the pull, and no later source is tried.
    let cache = tempfile::tempdir().unwrap();
    fs::write(cache.path().join("models"), "a file").unwrap();
    let pull = Pull::new(variant(&[("tiny/model.bin", b"x")]), cache.path());
    assert!(pull.run().unwrap_err().message().contains("cannot write"));
}
