//! Against a real Keystone. `PORTICO_TEST_ENV` names the file that says where it is.
mod environment;
mod keystone;
