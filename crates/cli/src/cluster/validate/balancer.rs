//! A Service of type LoadBalancer whose pod must answer this machine.
use super::objects::{Waiting, create, last_warning, of_error, suffix, until};
use super::report::Finding;
use crate::cluster::kubernetes::{ApiError, Kubernetes};
use serde_json::{Value, json};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// The name of the Service and of its pod.
const BALANCER: &str = "load-balancer";
/// The port of the Service.
const PORT: u16 = 80;
/// The port of the pod, which needs no right to use a lower one.
const POD_PORT: u16 = 8053;
/// Maximum time of one question.
const ASK_TIMEOUT: Duration = Duration::from_secs(5);
/// The ID of the question, which its answer has too.
const ID: [u8; 2] = *b"Po";
/// A question for the address of `portico.` with its length before it: DNS over TCP (RFC 1035, section 4.2.2).
const QUESTION: &[u8] =
    b"\x00\x19Po\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07portico\x00\x00\x01\x00\x01";
/// The bit that an answer has and a question has not.
const IS_ANSWER: u8 = 0x80;

/// Returns the image of CoreDNS that the cluster runs: its nodes have it, or may pull it, also where they reach a
/// registry of their own only.
pub fn image(dns_pods: &[Value]) -> Option<String> {
    let mut images = dns_pods
        .iter()
        .filter_map(|pod| pod.pointer("/spec/containers/0/image")?.as_str());
    images
        .find(|image| image.contains("coredns"))
        .map(str::to_owned)
}

/// Makes a Service of type LoadBalancer with a pod of an image, and waits until the pod answers this machine.
pub async fn balancer(
    api: &Kubernetes,
    namespace: &str,
    image: Option<&str>,
    waiting: Waiting,
) -> Finding {
    match service(api, namespace, image, waiting).await {
        Ok(finding) => finding,
        Err(error) => of_error(&error),
    }
}

async fn service(
    api: &Kubernetes,
    namespace: &str,
    image: Option<&str>,
    waiting: Waiting,
) -> Result<Finding, ApiError> {
    let base = format!("/api/v1/namespaces/{namespace}");
    if let Some(image) = image {
        create(api, &format!("{base}/pods"), &pod_object(image), waiting).await?;
    }
    let services = format!("{base}/services");
    create(api, &services, &service_object(), waiting).await?;
    let path = format!("{services}/{BALANCER}");
    let Some((address, port)) = until(api, &path, waiting, endpoint).await? else {
        let event = last_warning(api, namespace, "Service", BALANCER).await;
        return Ok(Finding::failed(format!(
            "a Service got no address within {} s{}",
            waiting.timeout.as_secs(),
            suffix(event)
        )));
    };
    if image.is_none() {
        return Ok(Finding::not_checked(format!(
            "a Service got the address {address}; no pod was made that answers there, as the image of CoreDNS is \
             not known"
        )));
    }
    Ok(match until_answered(&address, port, waiting).await {
        Ok(()) => Finding::ok(format!(
            "a Service got the address {address}, and its pod answers this machine there"
        )),
        Err(cause) => {
            let event = last_warning(api, namespace, "Pod", BALANCER).await;
            Finding::failed(format!(
                "a Service got the address {address}, and its pod does not answer this machine there ({cause}){}",
                suffix(event)
            ))
        }
    })
}

/// Returns the first address of a Service, and its port.
fn endpoint(service: &Value) -> Option<(String, u16)> {
    let first = service.pointer("/status/loadBalancer/ingress/0")?;
    let address = first.get("ip").or_else(|| first.get("hostname"))?;
    let port = service
        .pointer("/spec/ports/0/port")
        .and_then(Value::as_u64);
    let port = port.and_then(|port| u16::try_from(port).ok());
    Some((address.as_str()?.to_owned(), port.unwrap_or(PORT)))
}

/// Asks until there is an answer; the cause of the last failure, if there is none in time.
async fn until_answered(address: &str, port: u16, waiting: Waiting) -> Result<(), String> {
    let deadline = Instant::now() + waiting.timeout;
    loop {
        let result = ask(address, port).await;
        if result.is_ok() || Instant::now() >= deadline {
            return result;
        }
        sleep(waiting.pause).await;
    }
}

/// Sends a question: a load balancer accepts connections also where nothing is behind it.
async fn ask(address: &str, port: u16) -> Result<(), String> {
    let asking = async {
        let mut stream = TcpStream::connect((address, port)).await?;
        stream.write_all(QUESTION).await?;
        // the length, and the header
        let mut answer = [0_u8; 14];
        stream.read_exact(&mut answer).await?;
        Ok::<_, io::Error>(answer)
    };
    let answer = match timeout(ASK_TIMEOUT, asking).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err(format!("no answer within {} s", ASK_TIMEOUT.as_secs())),
    };
    let [_, _, first, second, flags, ..] = answer;
    if [first, second] == ID && flags & IS_ANSWER != 0 {
        return Ok(());
    }
    Err("something else answers".to_owned())
}

fn service_object() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": BALANCER},
        "spec": {"type": "LoadBalancer", "selector": {"app": BALANCER},
                 "ports": [{"port": PORT, "targetPort": POD_PORT, "protocol": "TCP"}]},
    })
}

/// Returns a pod that the strictest Pod Security Standard admits. Without a file of its own, CoreDNS answers every
/// question with the address of who asks.
fn pod_object(image: &str) -> Value {
    let container = json!({
        "name": "dns", "image": image, "imagePullPolicy": "IfNotPresent",
        "args": [format!("-dns.port={POD_PORT}")],
        "ports": [{"containerPort": POD_PORT, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"},
                      "limits": {"cpu": "100m", "memory": "128Mi"}},
        // the program of the image has this capability as an attribute of its file, and is not started without it
        "securityContext": {"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                            "capabilities": {"add": ["NET_BIND_SERVICE"], "drop": ["ALL"]}},
    });
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": BALANCER, "labels": {"app": BALANCER}},
        "spec": {
            "automountServiceAccountToken": false,
            "terminationGracePeriodSeconds": 0,
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65_532,
                                "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [container],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Listens once, reads a question, and sends these bytes.
    async fn answering(answer: Vec<u8>) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut question = vec![0; QUESTION.len()];
            stream.read_exact(&mut question).await.unwrap();
            stream.write_all(&answer).await.unwrap();
        });
        port
    }

    #[tokio::test]
    async fn an_accepted_connection_without_an_answer_is_not_a_pod() {
        let mut answer = QUESTION.to_vec();
        answer[4] = IS_ANSWER;
        assert_eq!(ask("127.0.0.1", answering(answer).await).await, Ok(()));
        // what accepts the connection and closes it, an echo, and another service
        assert!(ask("127.0.0.1", answering(vec![]).await).await.is_err());
        for other in [QUESTION, b"HTTP/1.1 400 Bad Request".as_slice()] {
            let port = answering(other.to_vec()).await;
            let cause = ask("127.0.0.1", port).await.unwrap_err();
            assert_eq!(cause, "something else answers");
        }
    }

    #[test]
    fn the_question_has_its_length_and_its_id() {
        let length = u16::from_be_bytes([QUESTION[0], QUESTION[1]]);
        assert_eq!(usize::from(length), QUESTION.len() - 2);
        assert_eq!(&QUESTION[2..4], ID.as_slice());
    }

    #[test]
    fn the_image_is_that_of_coredns() {
        let pod = |image: &str| json!({"spec": {"containers": [{"image": image}]}});
        let pods = [
            json!({}),
            pod("registry.example/k8s-dns-kube-dns:1"),
            pod("registry.example/coredns/coredns:v1.11.3"),
        ];
        let found = image(&pods);
        assert_eq!(
            found.as_deref(),
            Some("registry.example/coredns/coredns:v1.11.3")
        );
        assert_eq!(image(&pods[..2]), None);
    }

    #[test]
    fn a_service_has_an_address_or_a_host_name() {
        let of = |ingress: Value, port: Value| {
            endpoint(&json!({"spec": {"ports": [{"port": port}]},
                             "status": {"loadBalancer": {"ingress": [ingress]}}}))
        };
        let found = of(json!({"ip": "203.0.113.7"}), json!(8080));
        assert_eq!(found, Some(("203.0.113.7".to_owned(), 8080)));
        let found = of(json!({"hostname": "lb.example"}), Value::Null);
        assert_eq!(found, Some(("lb.example".to_owned(), PORT)));
        assert_eq!(endpoint(&json!({"status": {"loadBalancer": {}}})), None);
    }
}
