# Everything a person or CI runs. `make` prints this list.
GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT   ?= golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da
GOVULNCHECK ?= golang.org/x/vuln/cmd/govulncheck@v1.9.0
CYCLES      ?= 500
# SQLite is C in Go's clothes, with a heap of its own: to check each of its pointers takes a third of the time, and says nothing of ours.
# The race detector sees it as ever.
RACE        ?= -race -gcflags=modernc.org/...=-d=checkptr=0

.PHONY: assets help build run screenshots test test-wire mixed settle crash walk fuzz bench guard man lint vuln tools

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the static binary, as it is released
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o sendonce .

run: ## the service on its defaults: sendonce.db, 127.0.0.1:8484, nothing really leaves
	$(GO) run . serve

assets: ## fetches the console's front-end files that others wrote again, in the versions of console/vendor.json
	node console/vendor.mjs

test: tools ## every test, with the race detector, in random order (20 kill cycles included); the largest once more in full size
	$(GO) test $(RACE) -shuffle=on -timeout 20m ./...
	$(GO) test -count=1 -run '^TestMixed|^TestSettleByItself|^TestCheck_ManyRows|^TestLoop_UrgentPassesABacklog|^TestAllocations' . ./ledger ./api ./providers ./store

test-wire: ## the adapters against the real thing: requests against the providers' own descriptions (Prism, on Node), mails through a Postfix of their own (Debian's)
	@sh .ci/tools wire
	$(GO) test ./providers -count=1 -v -run '^TestWire' -wire

mixed: ## 10,000 messages over all providers, a fifth of the requests faulty in every way, with the table
	$(GO) test . -run '^TestMixed' -v -count=1

settle: ## 100,000 events in virtual time, every tenth answer lost, 50 crashes: what settles by itself, with the table
	$(GO) test . -run '^TestSettleByItself$$' -v -count=1 -timeout 80m -settle-events 100000 -settle-crashes 50

crash: tools ## CYCLES (500) kills of the real binary, then the table; and of its migrations and backups, and a long reader, and a long reader
	$(GO) test ./crash -run '^TestCrash$$|^TestMigrate_|^TestBackup_|^TestShell_' -v -count=1 -timeout 80m -cycles $(CYCLES)

walk: ## the random walk against the model, with the table of transitions taken
	$(GO) test ./walk -v -count=1

fuzz: ## each fuzz test for half a minute
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
		echo "$$p $$f"; $(GO) test $$p -run '^$$' -fuzz "^$$f\$$" -fuzztime 30s -fuzzminimizetime 2s || exit 1; done; done

bench: ## speed and memory beside the peers, in one run and one table
	$(GO) run ./bench

guard: ## what a notification costs in allocations, statements and commits: more than the committed counts is an error
	@mkdir -p .guard
	@$(GO) test -count=1 -v -run '^TestAllocations|^TestStatements' ./api ./ledger ./providers ./store > .guard/counts.txt || { cat .guard/counts.txt; exit 1; }
	@grep -h 'counts_test.go' .guard/counts.txt
	@$(GO) test -run '^$$' -bench '^Benchmark(Notification|Repeat|ClaimPath|Prior)' -benchtime 400x -count 6 . ./ledger ./store > .guard/bench.txt || { cat .guard/bench.txt; exit 1; }
	@$(GO) run $(BENCHSTAT) -filter '.unit:(allocs/op OR B/op OR statements/op OR commits/op)' .guard/bench.txt
	@rm -r .guard

man: ## manual pages and completions for bash, zsh, fish and PowerShell, into man/
	$(GO) run ./cli/man man

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags crashpoints ./...
	cd bench/peers && $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

vuln: ## known vulnerabilities in what we import, where the database can be reached
	@$(GO) run $(GOVULNCHECK) ./... || { echo "govulncheck could not finish: see above"; test -z "$(STRICT)"; }

screenshots: tools ## the pictures of docs/console.md again: each page wide, dark and narrow
	$(GO) test ./browser -count=1 -run '^TestScreenshots$$' -screenshots $(CURDIR)/docs/screenshots

tools: ## what the tests need beside Go: strace, sqlite3, e2fsprogs, chromium (installed from Debian when run as root)
	@sh .ci/tools
