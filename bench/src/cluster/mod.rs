//! Measures clusters of OpenStack Magnum: how soon the page of one shows that an operation has ended,
//! and lists of many, in the panel and on the command line.
mod driver;
mod installation;
pub mod measure;
mod program;
mod report;
mod run;
mod tenant;
