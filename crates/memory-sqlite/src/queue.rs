use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// A bounded queue: async callers wait for a place, threads wait for an item.
pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
    capacity: usize,
}

struct State<T> {
    items: VecDeque<T>,
    /// Callers that found the queue full. All are woken for one free place: a caller may have gone away meanwhile, and a wake-up
    /// given to it alone would be lost.
    waiting: Vec<Waker>,
    /// Threads that wait for an item.
    n_idle: usize,
    end: Option<End>,
}

/// Why a queue takes no more items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Somebody closed it; what is in it is still done.
    Closed,
    /// A job panicked; what is in it is dropped.
    Dead,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::new(State {
                items: VecDeque::new(),
                waiting: Vec::new(),
                n_idle: 0,
                end: None,
            }),
            filled: Condvar::new(),
            capacity: capacity.max(1),
        }
    }

    /// Adds an item and returns whether an idle thread is there for it.
    pub(crate) async fn push(&self, item: T) -> Result<bool, End> {
        let mut item = Some(item);
        poll_fn(|cx| {
            let mut state = self.lock();
            if let Some(end) = state.end {
                return Poll::Ready(Err(end));
            }
            if state.items.len() >= self.capacity {
                state.waiting.push(cx.waker().clone());
                return Poll::Pending;
            }
            state.items.extend(item.take());
            self.filled.notify_one();
            Poll::Ready(Ok(state.n_idle >= state.items.len()))
        })
        .await
    }

    /// Waits for the next item; `None` when the queue has ended.
    pub(crate) fn pop(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                let waiting = std::mem::take(&mut state.waiting);
                drop(state);
                waiting.into_iter().for_each(Waker::wake);
                return Some(item);
            }
            if state.end.is_some() {
                return None;
            }
            state.n_idle += 1;
            state = self
                .filled
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.n_idle -= 1;
        }
    }

    /// Takes no more items.
    pub(crate) fn end(&self, end: End) {
        let mut state = self.lock();
        let dropped = match end {
            End::Dead => std::mem::take(&mut state.items),
            End::Closed => VecDeque::new(),
        };
        state.end.get_or_insert(end);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.filled.notify_all();
        waiting.into_iter().for_each(Waker::wake);
        // Dropping a job wakes its caller, who may call back: not under the lock.
        drop(dropped);
    }

    /// No code of others runs under the lock, so a poisoned one is as good as new.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
