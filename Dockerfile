# Builds the one image that every role runs from: `docker run … portico gateway --config …`.
# Written for a machine with a container engine; the project's CI has none and does not build it.
FROM rust:1.95-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends nodejs npm \
 && rm -rf /var/lib/apt/lists/* \
 && rustup target add wasm32-unknown-unknown
WORKDIR /src
COPY . .
RUN npm ci --no-audit --no-fund
RUN cargo run --locked --package xtask -- site --release
RUN cargo build --locked --release --package server

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --no-create-home portico
COPY --from=build /src/target/release/portico /usr/local/bin/portico
COPY --from=build /src/target/site /usr/share/portico/site
ENV PORTICO_PANEL__SITE_ROOT=/usr/share/portico/site
USER 10001
ENTRYPOINT ["/usr/local/bin/portico"]
CMD ["all", "--config", "/etc/portico/portico.toml"]
