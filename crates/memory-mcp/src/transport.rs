use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::Notify;

/// A transport that says when the client has gone away, and skips what comes before the first request: the SDK would end there.
#[derive(Debug)]
pub(crate) struct Patient<T> {
    inner: T,
    has_begun: bool,
    has_ended: Arc<Notify>,
}

impl<T> Patient<T> {
    pub(crate) fn new(inner: T, has_ended: Arc<Notify>) -> Self {
        Self {
            inner,
            has_begun: false,
            has_ended,
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Patient<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let Some(message) = self.inner.receive().await else {
                self.has_ended.notify_one();
                return None;
            };
            self.has_begun |= matches!(message, JsonRpcMessage::Request(_));
            if self.has_begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
