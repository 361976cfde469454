use super::*;
use serde_json::{Value, json};

mod calls;
mod paging;
mod passing_on;

const SERVICE: Service = Service::Magnum;

fn errors(status: u16, detail: &str) -> Value {
    json!({"errors": [{"request_id": "", "code": "client", "status": status, "title": "cut",
                       "detail": detail, "links": []}]})
}

#[test]
fn an_id_leads_nowhere_else() {
    for (id, good) in [
        (test_server::PROJECT, true),
        ("m1", true),
        ("..", false),
        ("a/b", false),
        ("", false),
    ] {
        assert_eq!(is_id(id), good, "{id}");
    }
}
