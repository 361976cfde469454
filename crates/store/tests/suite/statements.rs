//! The databases accept every SQL statement in the sources: a wrong name of a column is found without a
//! test that runs the statement.
mod sources;

use super::Database;
use sqlx::{AnyConnection, Connection as _, Executor as _};

pub async fn every_statement_is_prepared(database: &Database) {
    let mut connection = AnyConnection::connect(&database.url).await.unwrap();
    let mut faults = Vec::new();
    for statement in sources::statements() {
        if let Err(error) = connection.prepare(&statement.sql).await {
            faults.push(format!("{}: {error}\n{}", statement.file, statement.sql));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    // control cases
    for wrong in [
        "SELECT no_such_column FROM sessions WHERE id = $1",
        "DELETE FROM no_such_table WHERE id = $1",
        "UPDATE sessions SET no_such_column = $1",
    ] {
        assert!(connection.prepare(wrong).await.is_err(), "{wrong}");
    }
    connection.close().await.unwrap();
}
