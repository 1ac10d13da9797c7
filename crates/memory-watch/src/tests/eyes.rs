use std::path::PathBuf;

use notify::event::{
    AccessKind, CreateKind, DataChange, EventKind, Flag, ModifyKind, RemoveKind, RenameMode,
};
use notify::{Error, Event};

use crate::eyes::{Seen, seen};

fn of(event: Event) -> Option<Seen> {
    seen(Ok(event), &[PathBuf::from("/notes/.memory")])
}

fn event(kind: EventKind, path: &str) -> Event {
    Event::new(kind).add_path(path.into())
}

#[test]
fn a_change_of_a_file_is_seen_whatever_its_form() {
    let data = EventKind::Modify(ModifyKind::Data(DataChange::Content));
    let seen = of(event(data, "/notes/memory/a.md"));
    assert_eq!(seen, Some(Seen::Change { folders: false }));
    for kind in [
        EventKind::Create(CreateKind::Folder),
        EventKind::Remove(RemoveKind::Any),
        EventKind::Modify(ModifyKind::Name(RenameMode::Both)),
        EventKind::Any,
        EventKind::Other,
    ] {
        let seen = of(event(kind, "/notes/memory/a.md"));
        assert_eq!(seen, Some(Seen::Change { folders: true }), "{kind:?}");
    }
}

#[test]
fn reading_and_our_own_files_are_no_change() {
    let read = EventKind::Access(AccessKind::Read);
    assert_eq!(of(event(read, "/notes/memory/a.md")), None);
    let write = EventKind::Modify(ModifyKind::Any);
    assert_eq!(
        of(event(write, "/notes/.memory/gen/1-store/store.db")),
        None
    );
    // A folder whose name only begins alike is somebody else's.
    assert!(of(event(write, "/notes/.memory-old/a.md")).is_some());
}

/// SW-10, SW-11.
#[test]
fn an_event_without_a_path_or_of_a_queue_that_ran_over_is_about_everything() {
    assert_eq!(
        of(Event::new(EventKind::Any)),
        Some(Seen::Change { folders: true })
    );
    let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
    assert_eq!(of(overflow), Some(Seen::Change { folders: true }));
    let overflow =
        event(EventKind::Access(AccessKind::Any), "/notes/.memory").set_flag(Flag::Rescan);
    assert_eq!(of(overflow), Some(Seen::Change { folders: true }));
}

#[test]
fn trouble_names_what_to_do() {
    let full = seen(Err(Error::new(notify::ErrorKind::MaxFilesWatch)), &[]);
    let Some(Seen::Trouble(reason)) = full else {
        panic!("{full:?}");
    };
    assert!(reason.contains("max_user_watches"), "{reason}");
}
