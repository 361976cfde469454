# Builds the one image that every role runs from: `docker run … portico gateway --config …`; without arguments it runs
# all roles. Written for a machine with a container engine; the project's CI has none and does not build it.
# .dockerignore keeps build results, keys and state out of what the engine is sent.

# Node for Tailwind, esbuild and Binaryen: the panel's tools need 20, Debian bookworm has 18
FROM node:20-bookworm-slim AS node
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY end2end/package.json end2end/
RUN npm ci --no-audit --no-fund

FROM rust:1.95-bookworm AS build
COPY --from=node /usr/local/bin/node /usr/local/bin/node
RUN rustup target add wasm32-unknown-unknown
WORKDIR /src
COPY . .
COPY --from=node /src/node_modules node_modules
RUN cargo run --locked --package xtask -- site --release
RUN cargo build --locked --release --package server

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --no-create-home portico
COPY --from=build /src/target/release/portico /usr/local/bin/portico
# found there without any key of the configuration, which would make a [panel] section where there is none
COPY --from=build /src/target/site /usr/share/portico/site
USER 10001
ENTRYPOINT ["/usr/local/bin/portico"]
CMD ["all", "--config", "/etc/portico/portico.toml"]
