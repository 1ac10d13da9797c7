use std::fs;

use crate::file::open_regular;

#[test]
fn a_regular_file_is_opened_and_a_folder_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let dir = fs::canonicalize(dir.path()).unwrap();
    fs::write(dir.join("a.md"), "text").unwrap();
    assert!(open_regular(&dir.join("a.md")).is_ok());
    assert!(open_regular(&dir).is_err());
    assert_eq!(
        open_regular(&dir.join("b.md")).unwrap_err().kind(),
        std::io::ErrorKind::NotFound
    );
}

#[cfg(target_os = "linux")]
#[test]
fn no_link_on_the_way_is_followed_and_no_pipe_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let dir = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir(dir.join("real")).unwrap();
    fs::write(dir.join("real/a.md"), "text").unwrap();
    std::os::unix::fs::symlink(dir.join("real"), dir.join("folder")).unwrap();
    std::os::unix::fs::symlink(dir.join("real/a.md"), dir.join("link.md")).unwrap();
    assert!(open_regular(&dir.join("link.md")).is_err());
    assert!(open_regular(&dir.join("folder/a.md")).is_err());
    let pipe = dir.join("pipe.md");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(open_regular(&pipe).is_err());
}
