use std::time::Duration;

use portico_openstack::keystone::{self, error::Unavailable};
use portico_proxy::forward::ForwardError;

use crate::{http::error_response::Problem, pages::error_response::page};

const REQUEST_ID: &str = "0b2f6c4e-6f0a-4a51-8c53-3f8a3a3a0f0e";

#[test]
fn an_error_has_the_cause_the_steps_and_the_request_id() {
    let problem = Problem::not_found();
    assert_page!("not_found", page(&problem, REQUEST_ID));
    assert_page!("not_found_without_a_request_id", page(&problem, ""));
    let problem = Problem::too_many_requests("Prometheus <lab>", Duration::from_secs(4));
    assert_page!("too_many_requests", page(&problem, REQUEST_ID));
    let problem = Problem::internal();
    assert_page!("internal_error", page(&problem, REQUEST_ID));
}

#[test]
fn an_outage_has_another_way_on() {
    let error = keystone::Error::Unavailable(Unavailable::Timeout);
    let problem = Problem::keystone_unavailable_by(&error);
    assert_page!("keystone_unavailable", page(&problem, REQUEST_ID));
    let problem = Problem::provider_unavailable("Google", true);
    assert_page!("provider_unavailable", page(&problem, REQUEST_ID));
    let error = ForwardError::Connect("connection refused by 10.0.0.7".into());
    let problem = Problem::forwarding("Prometheus", &error);
    let page = page(&problem, REQUEST_ID);
    // where the upstream is concerns operators only
    assert!(!page.snapshot().contains("10.0.0.7"), "{}", page.snapshot());
    assert_page!("upstream_unreachable", page);
}
