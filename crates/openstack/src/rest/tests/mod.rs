use super::*;
use serde_json::{Value, json};

mod calls;
mod paging;

const SERVICE: Service = Service::Magnum;

fn errors(status: u16, detail: &str) -> Value {
    json!({"errors": [{"request_id": "", "code": "client", "status": status, "title": "cut",
                       "detail": detail, "links": []}]})
}
