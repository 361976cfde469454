# Sourced: how the workspace is built for tests. Cargo lints its crates as it builds them, and a warning is an error. One build of
# the dependencies is enough then; `cargo clippy` would have its own.
RUSTC_WORKSPACE_WRAPPER=$(realpath "$(dirname "${BASH_SOURCE[0]}")/lint-wrapper.sh")
export RUSTC_WORKSPACE_WRAPPER
export CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

# What tests need of the workspace. --all-targets would compile the benchmark a second time, without its unit tests.
test_targets=(--workspace --tests --bin portico --bin xtask)
