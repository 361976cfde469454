//! Reading of responses into memory, within limits.
use super::KubeError;
use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use http_body_util::{BodyExt as _, Limited};
use kube::client::Body;
use std::pin::pin;
use tokio::sync::Semaphore;

/// Above this size a response is a large one, in bytes.
const LARGE_BYTES: usize = 256 * 1024;
/// Maximum number of large responses of enrolled clusters that the process reads at once. Their API
/// servers are those of tenants, who could make it read any number.
const MAX_LARGE_READS: usize = 32;

static LARGE_READS: Semaphore = Semaphore::const_new(MAX_LARGE_READS);

/// How much of responses may be in memory.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Of one response, in bytes.
    pub max_bytes: usize,
    /// Whether large responses count towards those of all enrolled clusters.
    pub is_enrolled: bool,
}

/// Reads a whole response. A large one of an enrolled cluster waits until there are fewer of them.
///
/// # Errors
/// [`KubeError::Protocol`] beyond the limit, or if the connection is lost.
pub async fn read(body: Body, limits: BodyLimits) -> Result<Bytes, KubeError> {
    let large = limits.is_enrolled.then_some(&LARGE_READS);
    read_within(body, limits.max_bytes, large).await
}

async fn read_within(
    body: Body,
    max_bytes: usize,
    large: Option<&Semaphore>,
) -> Result<Bytes, KubeError> {
    let mut parts = pin!(Limited::new(body, max_bytes).into_data_stream());
    let mut read = BytesMut::new();
    let mut permit = None;
    while let Some(part) = parts.next().await {
        let part = part.map_err(|error| KubeError::Protocol(error.to_string()))?;
        if let Some(large) = large
            && permit.is_none()
            && read.len() + part.len() > LARGE_BYTES
        {
            let acquired = large.acquire().await;
            permit = Some(acquired.map_err(|error| KubeError::Protocol(error.to_string()))?);
        }
        read.extend_from_slice(&part);
    }
    drop(permit);
    Ok(read.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[test]
    fn large_responses_of_enrolled_clusters_wait_for_each_other_and_small_ones_do_not() {
        let body = |bytes| Body::from(vec![b' '; bytes]);
        let read = |bytes, large| read_within(body(bytes), 1024 * 1024, large).now_or_never();
        let (none, one) = (Semaphore::new(0), Semaphore::new(1));
        let small = read(LARGE_BYTES, Some(&none));
        assert_eq!(small.unwrap().unwrap().len(), LARGE_BYTES);
        assert!(read(LARGE_BYTES + 1, Some(&none)).is_none());
        // the permit is free again after each of them
        for _ in 0..2 {
            let large = read(LARGE_BYTES + 1, Some(&one));
            assert_eq!(large.unwrap().unwrap().len(), LARGE_BYTES + 1);
        }
        assert!(read(LARGE_BYTES + 1, None).is_some());
    }
}
