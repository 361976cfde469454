//! Measures the panel in a browser: a real API server without controllers, filled with thousands of
//! objects, behind Portico as users reach it.
mod changes;
pub mod driver;
mod figures;
mod fill;
mod installation;
mod log_source;
mod logs;
pub mod measure;
mod objects;
mod pods;
pub mod portico;
mod report;
mod rounds;
mod viewers;
