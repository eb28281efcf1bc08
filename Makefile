# Two commands do everything on a fresh machine: `make run` and `make test`.

.PHONY: run test check advisories sbom siege faults prove bench bench-index bench-ingest try-model eval fuzz setup setup-test web models demo-services fmt

CARGO := cargo
# Always the whole workspace: building parts of it would build shared dependencies again with other features.
RELEASE := $(or $(CARGO_TARGET_DIR),target)/release
WEB_SOURCES := $(shell find web/src web/index.html web/package.json web/package-lock.json web/vite.config.ts 2>/dev/null)

## Start Segue on http://127.0.0.1:8080 with the sample library: no key, no server, no account.
run: setup web/dist/index.html models
	$(CARGO) build --release --workspace --bin segue
	$(RELEASE)/segue serve

## Every test, on SQLite and on a throw-away PostgreSQL, and the page in a real browser.
test: setup-test web/dist/index.html
	tools/test

## Every fault rehearsed, on both databases: what the user saw, what was kept, how long until well again.
faults: setup-test web/dist/index.html
	$(CARGO) test --workspace --quiet --test faults -- --all
	tools/with-postgres $(CARGO) test --workspace --quiet --test faults -- --all

## The promises about turns, proved on both databases: every crash point, every lost reply, pauses, outages, histories; a
## simulation of 100,000 turns; and the proof itself: every planted bug must be found.
prove: setup-test web/dist/index.html
	SEGUE_SIMULATED_TURNS=100000 $(CARGO) test --workspace --quiet --lib -- --nocapture simulation
	$(CARGO) test --workspace --quiet --test prove -- --all
	tools/with-postgres $(CARGO) test --workspace --quiet --test prove -- --all
	tools/with-postgres $(CARGO) test --workspace --quiet --test prove -- --mutants

## What must hold before a change is handed over: format, lints, licences and where dependencies come from.
check: setup-test web/dist/index.html
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --quiet --locked cargo-deny
	$(CARGO) deny --log-level error check bans licenses sources

## Known weaknesses of dependencies, Rust and JavaScript. Asks the advisory databases, so it needs a network.
advisories: setup
	$(CARGO) deny --version >/dev/null 2>&1 || $(CARGO) install --quiet --locked cargo-deny
	$(CARGO) deny --log-level error check advisories
	cd web && npm audit --omit=dev

## Every dependency with its version, licence and checksum, as CycloneDX 1.5: segue.cdx.json. Needs no network.
sbom:
	tools/sbom > segue.cdx.json

## One hostile user beside ten ordinary ones for five minutes, on this machine: docs/security.md says what must hold.
siege: setup web/dist/index.html
	$(CARGO) build --release --workspace --bin segue
	tools/siege $(RELEASE)/segue $(or $(SECONDS_OF_SIEGE),300)

## Turns per second, CPU per turn, memory per open stream, beside a bare relay in the same run.
bench: setup-test web/dist/index.html
	tools/bench

## Search quality on real data: BM25, dense and hybrid with a paired bootstrap.
eval: setup
	$(CARGO) build --release --quiet --workspace --example eval
	$(RELEASE)/examples/eval

## Search speed, recall and memory at 10k, 100k and 1M synthetic tracks.
bench-index: setup
	$(CARGO) build --release --quiet --workspace --example index_bench
	$(RELEASE)/examples/index_bench

## A mixed import of 10,000 tracks, its ingestion against doubles, and ten kills in the middle of it.
bench-ingest: setup web/dist/index.html
	$(CARGO) build --release --quiet --workspace --bins
	$(RELEASE)/bench-ingest

## Sixty utterances through the real product against a model server, and a score card: make try-model URL=http://127.0.0.1:11434/v1
## Without a URL: a double of each family of servers.
try-model: setup web/dist/index.html
	$(CARGO) build --release --quiet --workspace --bins
	$(RELEASE)/try-model $(or $(URL),--doubles)

## Parsers under a coverage-guided fuzzer, for a bounded time.
fuzz: setup
	tools/fuzz

## Local doubles of the services outside, to try everything without the internet.
demo-services:
	$(CARGO) build --release --quiet --workspace --bin doubles
	$(RELEASE)/doubles --sample crates/app/assets/sample

## Installs the Debian packages that running needs, if they are missing.
setup:
	@tools/setup run

## The same for the tests: also a browser, PostgreSQL and HAProxy.
setup-test:
	@tools/setup test

## The page, built once for each change of its sources.
web: web/dist/index.html
web/dist/index.html: $(WEB_SOURCES)
	# Not `npm ci`: it refuses a lock file written without the optional packages of other platforms.
	cd web && npm install --no-save --no-audit --no-fund --loglevel=error && npm run --silent build

## The better embedder, if it can be had; without it the built-in one serves.
models:
	@tools/fetch-models || echo "The better embedder could not be fetched; the built-in one serves." >&2

fmt:
	$(CARGO) fmt --all
