//! How calls run beside each other, end and fail, with tools that are test doubles.

use std::future::pending;
use std::sync::{Barrier, Condvar, Mutex};

use futures::FutureExt as _;
use memory::Status;
use memory_api::Result;
use rmcp::ServiceError;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, CustomRequest, ErrorCode,
};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};

use super::{Notes, with_server, with_tools};
use crate::tool::{Answer, Tool, schema_of};

const fn double(name: &'static str, call: crate::tool::Call) -> Tool {
    Tool {
        name,
        title: name,
        description: name,
        params: &[],
        answers: schema_of::<Status>,
        is_read_only: true,
        is_idempotent: true,
        call,
    }
}

/// Lets go of four calls when all four are there; one after the other they would wait for ever.
static TOGETHER: Barrier = Barrier::new(4);

/// How many calls of `endless` have begun, and how many were dropped.
static ENDLESS: (Mutex<(u32, u32)>, Condvar) = (Mutex::new((0, 0)), Condvar::new());

struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        ENDLESS.0.lock().unwrap().1 += 1;
        ENDLESS.1.notify_all();
    }
}

const DOUBLES: &[Tool] = &[
    double("panics", |_, _| {
        async { panic!("the pump burst") }.boxed_local()
    }),
    double("together", |_, _| {
        async {
            TOGETHER.wait();
            done()
        }
        .boxed_local()
    }),
    double("endless", |_, _| {
        async {
            ENDLESS.0.lock().unwrap().0 += 1;
            ENDLESS.1.notify_all();
            let _dropped = Dropped;
            pending().await
        }
        .boxed_local()
    }),
    double("plain", |_, _| async { done() }.boxed_local()),
];

fn done() -> Result<Answer> {
    Answer::of(&json!({"is": "done"}))
}

fn notes() -> Notes {
    Notes::of(&[("memory/a.md", "pump")])
}

#[test]
fn a_panic_is_an_answer_and_the_server_goes_on() {
    with_tools(&notes(), DOUBLES, async |session| {
        let refusal = session.refusal("panics", json!({})).await;
        assert_eq!(
            refusal,
            "`panics` failed: the pump burst; this is a bug, the server goes on"
        );
        assert_eq!(session.answer("plain", json!({})).await["is"], "done");
    });
}

#[test]
fn calls_run_beside_each_other() {
    with_tools(&notes(), DOUBLES, async |session| {
        let calls = (0..4).map(|_| session.answer("together", json!({})));
        let answers = futures::future::join_all(calls).await;
        assert!(
            answers.iter().all(|answer| answer["is"] == "done"),
            "{answers:?}"
        );
    });
}

#[test]
fn a_call_that_is_cancelled_is_dropped_and_so_is_one_whose_client_is_gone() {
    let wait = |what: fn(&(u32, u32)) -> bool| {
        drop(
            ENDLESS
                .1
                .wait_while(ENDLESS.0.lock().unwrap(), |seen| !what(seen))
                .unwrap(),
        );
    };
    let request = || {
        let params = CallToolRequestParams::new("endless");
        ClientRequest::CallToolRequest(CallToolRequest::new(params))
    };
    with_tools(&notes(), DOUBLES, async |session| {
        let client = session.client();
        let send = async || {
            let options = PeerRequestOptions::no_options();
            client
                .send_cancellable_request(request(), options)
                .await
                .unwrap()
        };
        let call = send().await;
        tokio::task::spawn_blocking(move || wait(|(begun, _)| *begun == 1))
            .await
            .unwrap();
        call.cancel(None).await.unwrap();
        tokio::task::spawn_blocking(move || wait(|(_, dropped)| *dropped == 1))
            .await
            .unwrap();
        assert_eq!(session.answer("plain", json!({})).await["is"], "done");
        // This one is still there when the client goes.
        drop(send().await);
        tokio::task::spawn_blocking(move || wait(|(begun, _)| *begun == 2))
            .await
            .unwrap();
    });
    wait(|(_, dropped)| *dropped == 2);
}

#[test]
fn what_is_no_call_is_an_error_of_the_protocol() {
    // MC-11.
    with_server(&notes(), async |session| {
        let send = async |params: Value| {
            let request = CustomRequest::new("tools/call", Some(params));
            let request = ClientRequest::CustomRequest(request);
            match session.client().send_request(request).await {
                Err(ServiceError::McpError(err)) => {
                    assert_eq!(err.code, ErrorCode::INVALID_PARAMS);
                    err.message.into_owned()
                }
                other => panic!("{other:?}"),
            }
        };
        for arguments in [json!([]), json!("text"), json!(7)] {
            let message = send(json!({"name": "memory_search", "arguments": arguments})).await;
            assert_eq!(
                message,
                "`arguments` has to be an object, such as {\"query\": \"…\"}"
            );
        }
        assert_eq!(
            send(json!({"name": "memory_serch", "arguments": {}})).await,
            "there is no tool `memory_serch`, but: memory_search, memory_get, memory_add, memory_status"
        );
        assert_eq!(
            send(json!({})).await,
            "`name` is missing: the name of a tool, a text"
        );
        for params in [
            json!({"name": "memory_search"}),
            json!({"name": "memory_search", "arguments": null}),
        ] {
            let request =
                ClientRequest::CustomRequest(CustomRequest::new("tools/call", Some(params)));
            let answer = session.client().send_request(request).await.unwrap();
            let answer = serde_json::to_value(answer).unwrap();
            assert_eq!(answer["isError"], true);
            assert!(
                answer.to_string().contains("`query` is missing"),
                "{answer}"
            );
        }
        assert_eq!(session.answer("memory_status", json!({})).await["files"], 1);
    });
}

#[test]
fn what_a_server_needs_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<memory::Memory>();
    shared::<crate::Server>();
}
