//! The migrations are compiled in: a change to them is a change to this crate.
fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
