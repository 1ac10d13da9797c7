use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use memory::SyncRequest;
use tokio::runtime::Builder;

use super::Notes;
use crate::fresh::{Fresh, Patience};

#[test]
fn a_build_that_takes_too_long_is_said_and_goes_on() {
    let notes = Notes::of(&[("memory/a.md", "pump")]);
    block_on(notes.open().sync(&SyncRequest::default())).unwrap();
    // Another namespace has no index yet, and building one has to wait for the lock.
    let notes = notes.with("namespace", "other");
    let lock = File::open(notes.path(".memory/lock")).unwrap();
    lock.lock().unwrap();
    let fresh = |at_all| {
        let patience = Patience {
            for_vectors: Duration::ZERO,
            at_all,
        };
        Fresh::new(Arc::new(notes.open()), Arc::new(|_| {}), patience)
    };
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let hasty = fresh(Duration::ZERO);
        for _ in 0..2 {
            let news = hasty.before_search().await;
            assert_eq!(
                news.degraded,
                ["index: it is still being built; ask again in a moment"]
            );
        }
        lock.unlock().unwrap();
        let patient = fresh(Duration::MAX);
        assert_eq!(patient.before_search().await.degraded, [""; 0]);
        assert_eq!(hasty.before_search().await.degraded, [""; 0]);
    });
}
