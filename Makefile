# What a person does here: make demo, demo-tcp, demo-hosts, fastpass-rounds, front-page, test, test-slow, test-release, quic, adding, random-net, bench, bench-hosts, bench-htsim, lint, fmt, wheel, deb, site, audit, oldest, lock. Needs
# cargo, Python 3.10 or newer with venv, make; the fuzzer's targets a C++ compiler, too.

PYTHON ?= python3
VENV := .venv
ROUNDS ?= 200
BIN := $(VENV)/bin
# Only what a lock names is installed, and only with the hash that it names. Python compiles a module when it is first imported, and keeps
# that even where the environment says not to: otherwise each process that tests start compiles all that it imports once more.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --require-hashes --requirement
RUST := $(shell find crates -type f) Cargo.toml Cargo.lock

# Random scenarios that `make random-net` runs, and the seed of the first.
COUNT ?= 2000
SEED ?= 1

# Whether `make audit` fetches the advisories of crates: no takes the copy that is here, if there is one.
FETCH ?= yes

# The daemon for real hosts, where the package looks for it. It is for Linux.
ifeq ($(shell uname -s),Linux)
DAEMON := python/clearway/bin/clearwayd
# Swift in the kernel's TCP needs libelf and zlib with their headers, and pkg-config. Without them the daemon says so when asked for it.
TCP := $(if $(and $(wildcard /usr/include/libelf.h),$(wildcard /usr/include/zlib.h),$(shell command -v pkg-config)),--features clearway-host/tcp)
endif

.PHONY: demo front-page test test-programs package-and-tools quic test-rust test-python test-slow test-slow-rust test-slow-python test-release adding mutants random-net fuzz-targets bench bench-instructions lint lint-rust lint-python fmt docs site build package daemon wheel
.PHONY: demo-tcp demo-hosts fastpass-rounds bench-hosts bench-htsim deb
.PHONY: audit oldest oldest-rust oldest-python lock clean

demo: package
	$(BIN)/clearway demo

# Cubic, BBR and Swift in this kernel's TCP through one bottleneck, and a page: target/demo-tcp.html. Needs root and iperf3.
demo-tcp: build
	@$(BIN)/python -m tools.hosts demo

# A 64 to 1 incast on eight namespaces under cubic, BBR and Swift, beside its simulation, and a page: target/demo-hosts.html. Needs root.
demo-hosts: build
	@$(BIN)/python -m tools.hosts incast

# Fastpass's arbiters killed, stopped and cut off on this machine: no slot is granted twice, no demand is lost. Cuts need root.
fastpass-rounds: | needs-cargo
	CLEARWAY_ROUNDS=$(ROUNDS) cargo test --quiet $(TCP) --test all -- fastpass::safety --nocapture

# Renews what README shows of the demo: the pictures in docs/ and what it prints.
front-page: package
	$(BIN)/python -m tools.front_page

# What is tested is made first, Rust's and Python's at the same time.
TOGETHER = $(if $(findstring --jobserver,$(MAKEFLAGS)),,--jobs=2)
test:
	@+$(MAKE) --no-print-directory $(TOGETHER) package-and-tools test-programs
	@+$(MAKE) --no-print-directory test-rust
	@+$(MAKE) --no-print-directory test-python

test-programs: | needs-cargo
	cargo test --quiet --no-run $(TCP)

# One after the other, as either installs into the same folder.
package-and-tools: package
	@+$(MAKE) --no-print-directory $(VENV)/.tools

# Twice as many tests at a time as there are cores, as those of the daemon mostly wait.
test-rust: | needs-cargo
	RUST_TEST_THREADS=$${RUST_TEST_THREADS:-$$((2 * $$(getconf _NPROCESSORS_ONLN)))} cargo test --quiet $(TCP)

# As many files of tests at a time as there are cores. What is not slow takes the daemon that Rust's tests take, which has assertions.
PYTEST := $(BIN)/pytest --numprocesses auto --dist loadfile
test-python: package $(VENV)/.tools | needs-cargo
	@$(TEST_DAEMON) --no-run
	$(if $(DAEMON),CLEARWAYD=$(abspath target/debug/clearwayd)) $(PYTEST) -m "not slow"

# What takes long, and is no part of `make test`: real hosts, processes killed at any instant, clusters, every command of the documents, every
# key of a scenario set wrong, every kind of plot in every format, memory against its estimate, the wheel.
test-slow: test-slow-rust test-slow-python

# Selected together with the fuzzer, cargo takes the crates as `make test` has compiled them, with the features that both ask for. For the daemon alone
# it would compile what depends on them once more.
TEST_DAEMON = cargo test --quiet -p clearway-host -p clearway-fuzz $(TCP) --test all
test-slow-rust: | needs-cargo
	$(TEST_DAEMON) -- --ignored

test-slow-python: build $(VENV)/.tools
	$(PYTEST) -m slow

# The congestion control of QUIC libraries: its tests, and its examples over loopback. Apart from the others, as the libraries and their
# cryptography take some two minutes to build. Needs the Rust that s2n-quic asks for, and a C compiler.
QUIC := -p clearway-quic --all-features
quic: | needs-cargo
	cargo clippy --quiet $(QUIC) --all-targets -- -D warnings
	cargo clippy --quiet -p clearway-quic --features s2n -- -D warnings
	cargo clippy --quiet -p clearway-quic --features quinn -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps $(QUIC)
	cargo test --quiet $(QUIC)
	cargo run --quiet $(QUIC) --example s2n -- --megabytes 32
	cargo run --quiet $(QUIC) --example quinn -- --megabytes 32

# All tests of the simulator in release, where those run that are slow in debug (digests in every way of running, queueing theory), and three to
# seven times as many of the networks, jobs and whole scenarios that are drawn at random.
test-release: | needs-cargo
	cargo test --quiet -p clearway-sim --test all --release

# The examples of docs/ADDING.md, compiled and tested in a copy of the tree. That their changes fit the tree is a part of lint.
adding: | needs-cargo
	$(PYTHON) -m tools.adding

# Runs random scenarios of all schemes in every way and checks their figures: how many ran, were refused and failed, and the
# seeds that failed. make random-net COUNT=2000 SEED=1
random-net: | needs-cargo
	CLEARWAY_RANDOM_SCENARIOS=$(COUNT) CLEARWAY_RANDOM_SEED=$(SEED) cargo test --release -p clearway-sim --test all \
		-- --nocapture random_net::random_scenarios random_net::edges::

# That they can be built, with the dependencies as `make test` compiles them. How to run one is said in fuzz/README.md.
fuzz-targets: | needs-cargo needs-c++
	cargo test --quiet --no-run $(TCP) --features clearway-fuzz/libfuzzer

bench: | needs-cargo
	cargo bench --quiet -p clearway-sim
	cargo bench --quiet -p clearway-proto
	cargo bench --quiet -p clearway-host --bench pipeline

# Mutants of flow control's accounts and holds, of which the tests beside them must catch every one that compiles: a few minutes. Needs
# cargo-mutants (cargo install cargo-mutants).
mutants: | needs-cargo
	cargo mutants -p clearway-proto -f crates/proto/src/pfc/account.rs -f crates/proto/src/pfc/hold.rs -- --lib pfc

# Swift in this kernel's TCP held against cubic, between network namespaces; Swift over UDP, a testbed's agents and the simulation of an incast
# held against their bars: a line each, in nine minutes. Needs root, iperf3, ip, tc and ss; what cannot be measured here says why.
# make bench-hosts HOSTS="--quick", HOSTS="--runs 100", or HOSTS="--soak 3600"
bench-hosts: build
	$(BIN)/python -m tools.hosts bench $(HOSTS)

# uet-htsim and Clearway on the same files, in turn: figures, times, and whether they are alike. HTSIM is a clone of ultraethernet/uet-htsim,
# which is built with cmake: make bench-htsim HTSIM=~/uet-htsim, with ARGUMENTS=--quick without the networks of 8192 hosts.
bench-htsim: build
	$(BIN)/python -m tools.htsim $(HTSIM) $(ARGUMENTS)

# What a packet-hop costs in instructions, mispredicted branches and cache misses: the same on every machine.
bench-instructions: | needs-cargo needs-valgrind
	cargo bench --quiet -p clearway-sim --bench simulator -- --instructions

# Neither compiles the package or the daemon.
lint: lint-rust lint-python

lint-rust: | needs-cargo
	cargo fmt --all --check
	cargo clippy --quiet --workspace --exclude clearway-quic --all-targets $(TCP) -- -D warnings

lint-python: $(VENV)/.tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m tools.structure
	$(BIN)/python -m tools.words
	$(BIN)/python -m tools.bpf
	$(BIN)/python -m tools.adding --fit

fmt: $(VENV)/.tools | needs-cargo
	cargo fmt --all
	$(BIN)/ruff check --fix --exit-zero --quiet
	$(BIN)/ruff format

docs: | needs-cargo
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps -p clearway-proto -p clearway-sim -p clearway-host $(TCP)

# The documentation site, in target/site. A link that leads nowhere is an error.
site: build $(VENV)/.site
	@$(BIN)/python -m tools.site

# The package, installed so that a change of Python code needs no build, and on Linux the daemon: .venv/bin/clearway and .venv/bin/clearwayd.
# Both at the same time, as either is linked on one core.
# What both need to be installed with is made by this make, so that one with other goals (lint) does not make it at the same time.
build: | $(VENV)/.build-tools
	@+$(MAKE) --no-print-directory $(TOGETHER) package daemon

# The package without the daemon.
package: $(VENV)/.built
	@:
daemon: $(DAEMON)
	@:

$(VENV)/.built: $(VENV)/.build-tools $(RUST) pyproject.toml | needs-cargo
	@echo 'Building clearway (some minutes the first time) ...'
	@VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --quiet >$(VENV)/build.log 2>&1 \
		|| { cat $(VENV)/build.log >&2; exit 1; }
	@touch $@

ifdef DAEMON
$(DAEMON): $(RUST) | needs-cargo
	@echo 'Building clearwayd (some minutes the first time) ...'
	@cargo build --quiet --profile daemon -p clearway-host --bin clearwayd $(TCP)
	@install -D -m 755 target/daemon/clearwayd $@
endif

# One wheel for this kind of machine and every Python from 3.10 on, in dist/: it installs where there is no Rust.
wheel: $(VENV)/.build-tools $(DAEMON) | needs-cargo
	@echo 'Building a wheel (some minutes the first time) ...'
	@$(BIN)/maturin build --release --quiet --out dist
	@ls dist/*.whl

# The Debian package of the daemon, with its systemd unit, in dist/. Needs cargo-deb (cargo install cargo-deb) and dpkg.
deb: $(DAEMON) | needs-cargo
	@mkdir -p dist
	@cargo deb --quiet --profile daemon -p clearway-host --no-build --no-strip --output dist/
	@ls dist/*.deb

# Whether the dependencies may be used: licences, duplicates, sources, and what is known against them.
audit: $(VENV)/.audit
	$(BIN)/python -m tools.supply audit $(if $(filter yes,$(FETCH)),--fetch)

# Whether the oldest Rust and the oldest Python dependencies that are promised are enough.
oldest: oldest-rust oldest-python

oldest-rust: | needs-python
	$(PYTHON) -m tools.supply oldest-rust

oldest-python: build | needs-python
	$(PYTHON) -m tools.supply oldest-python

# Writes locks/ anew, with the newest versions that pyproject.toml allows; oldest.txt has the oldest ones.
LOCK = $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
	--custom-compile-command 'make lock' pyproject.toml
lock: $(VENV)/.audit
	$(LOCK) --group tools --output-file locks/tools.txt
	for group in build site audit; do \
		$(LOCK) --group $$group --constraints locks/tools.txt --output-file locks/$$group.txt || exit 1; \
	done
	$(LOCK) --all-extras --group test --resolution lowest-direct --output-file locks/oldest.txt

$(VENV)/.build-tools: locks/build.txt | $(VENV)/.made
	$(INSTALL) $<
	@touch $@

# After those, as both install into the same folder.
$(VENV)/.tools: locks/tools.txt | $(VENV)/.build-tools
	$(INSTALL) $<
	@touch $@

$(VENV)/.audit: locks/audit.txt | $(VENV)/.made
	$(INSTALL) $<
	@touch $@

$(VENV)/.site: locks/site.txt | $(VENV)/.made
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: the site's generator needs Python 3.11 or newer: rm -r $(VENV), then name one: make site PYTHON=..." >&2; exit 1; }
	$(INSTALL) $<
	@touch $@

$(VENV)/.made: | needs-python needs-cargo
	$(PYTHON) -m venv $(VENV)
	@touch $@

.PHONY: needs-python needs-cargo needs-c++ needs-valgrind
needs-python:
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is missing: install Python 3.10 or newer, or name one: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "make: $(PYTHON) is older than 3.10: install a newer one, or name one: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "make: $(PYTHON) has no venv: install it (Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 1; }

needs-cargo:
	@command -v cargo >/dev/null || { echo "make: cargo is missing: install Rust 1.85 or newer from https://rustup.rs" >&2; exit 1; }

needs-c++:
	@command -v $(CXX) >/dev/null || { echo "make: $(CXX) is missing: the fuzzer's runtime needs a C++ compiler (Debian and Ubuntu: apt-get install g++)" >&2; exit 1; }

needs-valgrind:
	@command -v valgrind >/dev/null || { echo "make: valgrind is missing: install it (Debian and Ubuntu: apt-get install valgrind)" >&2; exit 1; }

clean:
	rm -rf $(VENV) target python/clearway/_clearway*.so python/clearway/bin
