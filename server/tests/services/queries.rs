//! Queries and views of lists.
use crate::stack::Stack;
use portico_domain::{
    panel::{ListQuery, ResourceRef, RowRange},
    stream::{ListView, Request},
};

/// The first rows, as many as a window may have.
pub const FIRST_ROWS: RowRange = RowRange {
    offset: 0,
    limit: 200,
};

/// A query without a filter; in all namespaces if there are none.
pub fn query(resource: ResourceRef, namespaces: &[&str]) -> ListQuery {
    ListQuery {
        resource,
        namespaces: namespaces.iter().map(|&name| name.to_owned()).collect(),
        search: String::new(),
        labels: String::new(),
        fields: String::new(),
        status: Vec::new(),
        sort: String::new(),
    }
}

/// The first rows of a query.
pub fn first_rows(query: ListQuery) -> ListView {
    ListView {
        turn: 1,
        query,
        range: FIRST_ROWS,
        is_paused: false,
    }
}

/// Asks for a live list of acme's cluster.
pub fn watch(stack: &Stack, id: u32, query: ListQuery) -> Request {
    Request::Watch {
        id,
        cluster: stack.acme(),
        view: first_rows(query),
    }
}
