# Everything here runs on a machine with Go, git, make and a shell with Debian packages; what else is needed is found or
# installed, saying so. `make help` lists the targets.

GO          ?= go
STATICCHECK  = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI     = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# Where goroutines, processes and locks meet.
RACE      = ./pipeline/... ./importers/register/... ./importers/source/... ./importers
# These hold verdicts, by many stages of small batches, one after the other: nothing runs beside them that the other tests don't run too.
RACE_SKIP = ^Test(Rule|Preset|UnknownExports|Tamper|Mended|Lost|Undone|Vouched|NotBrought|PropertyNo|PropertyOver|PropertyUndo|PropertyMended|DryRunWithin|Kept|Erased|StateOfALong)
FUZZTIME ?= 30s
# What each run of tests came to; .ci/run prints it last.
SUMMARY  := bin/test-summary

.PHONY: help build demo test test-long race fuzz lint bench ci clean
.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile

build: ## build bin/sheetlift
	$(GO) build -o bin/sheetlift ./cmd/sheetlift

demo: build ## run the sample batch from workbooks to the register, and show what came of it
	@scripts/demo.sh

# SHEETLIFT_REQUIRE_POSTGRES makes a test that can't reach a server fail instead of skip, SHEETLIFT_REQUIRE_XMLLINT one without xmllint.
test: bin/testrun bin/pgtest ## run every test at small size, on SQLite and on a PostgreSQL of its own
	@scripts/need.sh postgresql openssh-client libxml2-utils
	SHEETLIFT_REQUIRE_POSTGRES=1 SHEETLIFT_REQUIRE_XMLLINT=1 bin/pgtest -- bin/testrun -name test -summary $(SUMMARY) -- -timeout 12m ./...

test-long: bin/testrun bin/pgtest ## run the tests at the sizes that issues ask for (an hour or more)
	@scripts/need.sh postgresql openssh-client libxml2-utils
	SHEETLIFT_LONG=1 SHEETLIFT_REQUIRE_POSTGRES=1 SHEETLIFT_REQUIRE_XMLLINT=1 bin/pgtest -- bin/testrun -name test-long -summary $(SUMMARY) -- -timeout 180m -p 1 ./...

race: bin/testrun bin/pgtest ## run the tests of the packages where it counts under the race detector
	@scripts/need.sh gcc postgresql openssh-client
	CGO_ENABLED=1 SHEETLIFT_REQUIRE_POSTGRES=1 bin/pgtest -- bin/testrun -name race -summary $(SUMMARY) -- -race -skip '$(RACE_SKIP)' -timeout 20m $(RACE)

fuzz: ## fuzz each target for FUZZTIME (30s)
	@scripts/fuzz.sh $(FUZZTIME)

lint: ## gofmt, go vet, staticcheck, golangci-lint
	@scripts/tool.sh $(STATICCHECK) $(GOLANGCI)
	@echo gofmt; unformatted=$$(git ls-files -z -- '*.go' | xargs -0 gofmt -l); \
	  if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	bin/tools/staticcheck ./...
	bin/tools/golangci-lint run ./...

# How much BENCH and BENCH_IMPORT measure, and how often; docs/performance.md says how to read it.
BENCH        ?= -rows 300000 -runs 5
BENCH_IMPORT ?= -rows 300000 -runs 3
bench: build bin/bench bin/pgtest ## measure reading, dry-run and import against their floors and peers (several minutes)
	bin/bench table -bin bin/sheetlift $(BENCH)
	bin/bench import -bin bin/sheetlift $(BENCH_IMPORT)

ci: ## what .ci/run calls: lint, test, race, demo
	@rm -f $(SUMMARY)
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory demo
	@$(MAKE) --no-print-directory race
	@$(MAKE) --no-print-directory test

clean: ## remove what was built and what the demo made; the register beside a batch.yaml stays
	rm -rf bin .sheetlift/demo

.PHONY: bin/testrun bin/pgtest bin/bench
bin/testrun:
	@$(GO) build -o $@ ./tools/testrun
bin/bench:
	@$(GO) build -o $@ ./tools/bench
bin/pgtest:
	@$(GO) build -o $@ ./pipeline/store/storetest/pgtest
