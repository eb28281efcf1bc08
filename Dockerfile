# The page, the binary, and nothing else.
FROM node:22-bookworm-slim AS page
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm install --no-audit --no-fund --loglevel=error
COPY web ./
RUN npm run --silent build

FROM rust:1.95-bookworm AS binary
WORKDIR /src
COPY Cargo.toml Cargo.lock rustfmt.toml clippy.toml ./
COPY crates crates
COPY --from=page /src/web/dist web/dist
RUN cargo build --release --locked --package segue

FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 segue && install -d -o segue /data
COPY --from=binary /src/target/release/segue /usr/local/bin/segue
USER segue
ENV SEGUE_DATA_DIR=/data SEGUE_LISTEN=0.0.0.0:8080 SEGUE_AUTH=accounts
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["segue"]
CMD ["serve"]
