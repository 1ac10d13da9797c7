use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use futures::channel::oneshot;
use memory_api::{Error, ErrorKind, Matrix, Result};

use crate::model::{Model, Plan};

/// Texts with their prefix, and where the answer goes.
pub(crate) struct Job {
    pub(crate) texts: Vec<String>,
    pub(crate) answer: oneshot::Sender<Result<Matrix>>,
}

/// The thread a model lives on. It begins with the first job, and ends when this is dropped and the job in hand is done.
#[derive(Debug)]
pub(crate) struct Worker {
    plan: Plan,
    jobs: Mutex<Option<Sender<Job>>>,
}

impl Worker {
    pub(crate) fn new(plan: Plan) -> Self {
        Self {
            plan,
            jobs: Mutex::new(None),
        }
    }

    pub(crate) async fn embed(&self, texts: Vec<String>) -> Result<Matrix> {
        let (answer, answered) = oneshot::channel();
        self.send(Job { texts, answer })?;
        match answered.await {
            Ok(answer) => answer,
            Err(_) => Err(Error::new(
                ErrorKind::Closed,
                "the thread of the model ended without an answer",
            )),
        }
    }

    fn send(&self, job: Job) -> Result<()> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match jobs.take() {
            Some(sender) => sender,
            None => self.start()?,
        };
        let sent = sender.send(job);
        if sent.is_ok() {
            *jobs = Some(sender);
        }
        sent.map_err(|err| {
            Error::new(ErrorKind::Closed, "the thread of the model is gone")
                .with_source(err.to_string())
        })
    }

    fn start(&self) -> Result<Sender<Job>> {
        let (sender, jobs) = channel();
        let plan = self.plan.clone();
        thread::Builder::new()
            .name("memory-embedder-local".to_owned())
            .spawn(move || run(&jobs, |model, job| answer(&plan, model, job)))
            .map_err(|err| {
                Error::new(
                    ErrorKind::Unavailable,
                    format!("no thread for the model: {err}"),
                )
                .with_hint("close other programs and try again")
                .with_source(err)
            })?;
        Ok(sender)
    }
}

/// Answers jobs until nobody can send any more. `answer` finds the model where it left it, `None` at first and after a panic.
pub(crate) fn run<M>(
    jobs: &Receiver<Job>,
    answer: impl Fn(&mut Option<M>, &Job) -> Result<Option<Matrix>>,
) {
    let mut model = None;
    while let Ok(job) = jobs.recv() {
        if job.answer.is_canceled() {
            continue;
        }
        let done = catch_unwind(AssertUnwindSafe(|| answer(&mut model, &job)));
        let answer = match done {
            Ok(Ok(Some(vectors))) => Ok(vectors),
            // Nobody waits any more.
            Ok(Ok(None)) => continue,
            Ok(Err(err)) => Err(err),
            Err(panic) => {
                // What a panic left behind is seen by nobody: the next job loads the model anew.
                model = None;
                Err(panicked(panic.as_ref()))
            }
        };
        // A caller that went away wants no answer.
        let _: Result<(), _> = job.answer.send(answer);
    }
}

fn answer(plan: &Plan, model: &mut Option<Model>, job: &Job) -> Result<Option<Matrix>> {
    if model.is_none() {
        *model = Some(Model::load(plan)?);
    }
    match model {
        Some(model) => model.embed(&job.texts, &|| !job.answer.is_canceled()),
        None => Ok(None),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let words = panic.downcast_ref::<&str>().copied();
    let words = words.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = format!("the model panicked: {}", words.unwrap_or("without a word"));
    Error::new(ErrorKind::Internal, message)
        .with_hint("if it happens again, get the model file again; else report it")
}
