//! The running stack's Keystone.
use portico_clock::Clock;
use portico_openstack::KeystoneConfig;
use portico_openstack::keystone::Client;
use portico_testkit::TestEnv;

/// The value of one of the stack's variables.
pub fn value(name: &str) -> String {
    TestEnv::load().unwrap().get(name).unwrap().to_owned()
}

/// A client for the running Keystone.
pub fn client() -> Client {
    Client::new(
        &KeystoneConfig::new(value("KEYSTONE_URL").parse().unwrap()),
        Clock::system(),
    )
    .unwrap()
}
