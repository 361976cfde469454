//! The download of the program `portico`.
use crate::stack::{CSRF, Stack};
use portico_domain::panel::ProgramsView;
use reqwest::{Client, Response, header::HeaderMap};
use sha2::{Digest as _, Sha256};
use std::time::Duration;

struct Panel {
    address: String,
    headers: HeaderMap,
    client: Client,
    project: String,
}

impl Panel {
    async fn get(&self, file: &str, more: &[(&str, &str)]) -> Response {
        let (address, project) = (&self.address, &self.project);
        let url = format!("http://{address}/projects/{project}/downloads/{file}");
        let mut request = self.client.get(url).headers(self.headers.clone());
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap()
    }

    /// The offered programs, once all digests are computed.
    async fn programs(&self, agent: &str) -> ProgramsView {
        let url = format!("http://{}/api/authentication/programs", self.address);
        loop {
            let answer = self.client.post(&url).headers(self.headers.clone());
            let answer = answer
                .header("x-csrf-token", CSRF)
                .header("accept", "application/json")
                .header("user-agent", agent)
                .form(&Vec::<(&str, &str)>::new())
                .send()
                .await
                .unwrap();
            assert_eq!(answer.status(), 200);
            let view: ProgramsView = answer.json().await.unwrap();
            if view.files.iter().all(|file| file.sha256.is_some()) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

fn text<'r>(answer: &'r Response, name: &str) -> &'r str {
    answer
        .headers()
        .get(name)
        .map(|value| value.to_str().unwrap())
        .unwrap_or_default()
}

async fn panel(stack: &Stack, address: String) -> Panel {
    let project = stack.var("PROJECT_ID_ACME").to_owned();
    Panel {
        address,
        headers: stack.headers("vera", &project).await,
        client: Client::new(),
        project,
    }
}

/// Returns the number of bytes and their digest, without holding them all.
async fn digest(mut answer: Response) -> (u64, String) {
    let (mut bytes, mut hasher) = (0, Sha256::new());
    while let Some(chunk) = answer.chunk().await.unwrap() {
        bytes += chunk.len() as u64;
        hasher.update(&chunk);
    }
    (bytes, format!("{:x}", hasher.finalize()))
}

#[tokio::test]
async fn need_13_the_program_that_runs_is_downloaded_and_has_the_digest_that_is_shown() {
    let stack = Stack::open();
    let panel = panel(&stack, stack.serve().await).await;
    let view = panel.programs("Mozilla/5.0 (X11; Linux)").await;
    let [own] = view.files.as_slice() else {
        panic!("one program: {view:?}");
    };
    assert!(own.is_for_viewer, "{own:?}");
    let answer = panel
        .get(&own.file, &[("accept-encoding", "gzip, br")])
        .await;
    assert_eq!(answer.status(), 200);
    assert_eq!(text(&answer, "content-length"), own.bytes.to_string());
    assert_eq!(text(&answer, "content-encoding"), "");
    assert_eq!(
        text(&answer, "content-disposition"),
        "attachment; filename=\"portico\""
    );
    assert_eq!(text(&answer, "content-type"), "application/octet-stream");
    let (bytes, digest) = digest(answer).await;
    assert_eq!((bytes, Some(digest)), (own.bytes, own.sha256.clone()));
}

#[tokio::test]
async fn need_13_programs_of_the_operators_directory_are_downloaded_in_ranges_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name);
    std::fs::write(file("portico-windows-amd64.exe"), b"0123456789").unwrap();
    std::fs::write(file("secret.key"), b"secret").unwrap();
    let stack = Stack::open();
    let address = stack.serve_offering(directory.path().to_owned()).await;
    let panel = panel(&stack, address).await;
    let view = panel
        .programs("Mozilla/5.0 (Windows NT 10.0; Win64; x64)")
        .await;
    assert_eq!(view.files[0].file, "portico-windows-amd64.exe");
    assert!(view.files.iter().all(|file| file.file != "secret.key"));

    let whole = panel.get("portico-windows-amd64.exe", &[]).await;
    assert_eq!(
        text(&whole, "content-disposition"),
        "attachment; filename=\"portico.exe\""
    );
    let etag = text(&whole, "etag").to_owned();
    assert!(!etag.is_empty());
    let (bytes, digest) = digest(whole).await;
    assert_eq!((bytes, Some(digest)), (10, view.files[0].sha256.clone()));
    let part = panel
        .get("portico-windows-amd64.exe", &[("range", "bytes=4-6")])
        .await;
    assert_eq!(part.status(), 206);
    assert_eq!(text(&part, "content-range"), "bytes 4-6/10");
    assert_eq!(part.text().await.unwrap(), "456");
    let known = panel
        .get("portico-windows-amd64.exe", &[("if-none-match", &etag)])
        .await;
    assert_eq!(known.status(), 304);

    for name in [
        "secret.key",
        "portico-darwin-arm64",
        "..%2Fsecret.key",
        "%2Fetc%2Fpasswd",
        "portico-linux-..%2F..%2Fetc%2Fpasswd",
    ] {
        let answer = panel.get(name, &[]).await;
        assert_eq!(answer.status(), 404, "{name}");
    }
    // and for no one who is not signed in
    let url = format!(
        "http://{}/projects/{}/downloads/portico-windows-amd64.exe",
        panel.address, panel.project
    );
    assert_eq!(panel.client.get(url).send().await.unwrap().status(), 401);
}
