use std::fs;
use std::time::{Duration, SystemTime};

use crate::script::{CHAT, Plan, Random, Script, files, write};

#[test]
fn a_seed_decides_the_script() {
    assert_eq!(Script::new(7), Script::new(7));
    assert_ne!(Script::new(7), Script::new(8));
}

#[test]
fn a_seed_decides_its_numbers_and_they_stay_below_their_bound() {
    let numbers = |seed| {
        let mut random = Random::new(seed);
        (0..50).map(|_| random.below(9)).collect::<Vec<_>>()
    };
    assert_eq!(numbers(1), numbers(1));
    assert_ne!(numbers(1), numbers(2));
    assert!(numbers(1).iter().all(|number| *number < 9));
}

#[test]
fn every_round_changes_the_tree_in_every_way() {
    let script = Script::new(1);
    for pair in script.rounds.windows(2) {
        let [before, after] = pair else {
            unreachable!()
        };
        let added = after.keys().filter(|path| !before.contains_key(*path));
        assert!(added.count() >= 3);
        assert!(before.keys().any(|path| !after.contains_key(path)));
        let same_path = || {
            after
                .iter()
                .filter_map(|(path, note)| Some((before.get(path)?, note)))
        };
        let content = |grown: bool| {
            same_path().any(|(before, after)| {
                before.content != after.content && after.content.ends_with(&before.content) == grown
            })
        };
        assert!(content(true) && content(false));
        assert!(
            same_path().any(|(before, after)| before != after && before.content == after.content)
        );
    }
}

#[test]
fn a_chat_grows_and_starts_over() {
    let script = Script::new(1);
    let chats: Vec<&str> = script
        .rounds
        .iter()
        .map(|tree| &*tree[CHAT].content)
        .collect();
    let grows: Vec<bool> = chats
        .windows(2)
        .map(|pair| pair[1].starts_with(pair[0]))
        .collect();
    assert_eq!(grows, [true, true, true, false, true, true]);
    assert!(chats.iter().any(|chat| !chat.ends_with('\n')));
}

#[test]
fn each_plan_has_a_name_that_leads_back_to_it() {
    for plan in Plan::ALL {
        assert_eq!(Plan::parse(plan.name()), Some(plan));
    }
    assert_eq!(Plan::parse("other"), None);
    assert_eq!(Plan::Steady.setup(0), Plan::Steady.setup(9));
}

#[test]
fn a_workspace_becomes_what_the_tree_says_and_the_rest_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let script = Script::new(3);
    for tree in &script.rounds {
        write(dir.path(), tree).unwrap();
        let there = files(&dir.path().join("notes")).unwrap();
        assert_eq!(there, tree.keys().cloned().collect());
        for (path, note) in tree {
            let file = dir.path().join("notes").join(path);
            assert_eq!(fs::read_to_string(file).unwrap(), note.content);
        }
    }
    let (path, note) = script.last().pop_first().unwrap();
    let file = dir.path().join("notes").join(path);
    let time = || fs::metadata(&file).unwrap().modified().unwrap();
    let right = time();
    write(dir.path(), &script.last()).unwrap();
    assert_eq!(time(), right);
    // Another time is a difference, as another content is.
    let other = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
    let open = fs::File::options().write(true).open(&file).unwrap();
    open.set_modified(other).unwrap();
    write(dir.path(), &script.last()).unwrap();
    assert_eq!(time(), right);
    fs::write(&file, "other").unwrap();
    write(dir.path(), &script.last()).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), note.content);
}
