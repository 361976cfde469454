//! The panel's services against real clusters. `PORTICO_TEST_ENV` names the env file of a running
//! stack (Keystone, clusters, kube-auth); without it there is nothing to test against.
mod access;
mod objects;
mod pages;
mod stack;
mod streams;
