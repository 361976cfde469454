.DEFAULT_GOAL := help
.PHONY: help demo demo-stop demo-status demo-code build release install check test test-services e2e test-stop bench-kube-auth bench-gateway bench-panel bench-cluster soak

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## everything on this machine, from nothing to a URL; the first time it builds Kubernetes
	@scripts/demo.sh start

demo-stop: ## stops the demo; what was built and its state stay
	@scripts/demo.sh stop

demo-status: ## what of the demo runs
	@scripts/demo.sh status

demo-code: ## mia's current one-time code
	@scripts/demo.sh code

build: ## the program and the browser half
	@scripts/build.sh

release: ## the same, optimised, to install
	@scripts/release.sh

install: ## what release has built, below PREFIX (/usr/local), and the service's user
	@scripts/install.sh

check: ## formatting, lints, tests that need no services
	@scripts/check.sh

test: ## check, test-services and e2e, as CI runs them
	@scripts/test.sh all

test-services: ## tests against real services; starts what does not run
	@scripts/test.sh services

e2e: ## browser tests over the whole stack; starts what does not run
	@scripts/test.sh e2e

bench-kube-auth: ## kube-auth's speed beside an echo; writes docs/performance (starts what does not run)
	@scripts/test.sh bench-kube-auth

bench-gateway: ## the gateway's speed beside nginx and mod_auth_openidc; writes docs/performance
	@scripts/test.sh bench-gateway

bench-panel: ## the panel's weight and speed with 10,000 pods in a browser; writes docs/performance
	@scripts/test.sh bench-panel

bench-cluster: ## clusters of Magnum: progress, lists of 200, start of the program; writes docs/performance
	@scripts/test.sh bench-cluster

soak: ## 100,000 reviews of two identities; 10,000 WebSockets and mixed load for half an hour: flat memory
	@scripts/test.sh soak

test-stop: ## stops the test stack
	@scripts/test.sh stop
