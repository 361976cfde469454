#!/usr/bin/env bash
# tour.sh: where the demo is, who may sign in, and what to try.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/stack.sh"

url=$(env_get PORTICO_URL)
kubeconfig=/tmp/portico-acme-prod.yaml
cat <<TEXT

  $url

  Users (the sign-in page fills them in by a click; password of all: $(env_get DEMO_PASSWORD)):
    ada    k8s_admin in acme
    devi   k8s_developer in acme, k8s_viewer in globex
    vera   k8s_viewer in acme
    nora   member of acme, without a Kubernetes role
    otto   k8s_admin in globex
    mia    k8s_developer in acme, with a one-time code: make demo-code

  A tour in five steps:
    1. Sign in as devi, project acme. The launchpad shows first what fails and why: recommender crashes,
       video-encoder finds no node, thumbnailer has no image.
    2. Open acme-prod, namespace shop, a checkout pod: logs as they come, then a terminal in the container.
       Scale storefront to 4 and watch the rows change.
    3. Back on the launchpad, open Prometheus: it does not ask you to sign in again.
    4. The same identity in a terminal (a browser opens, or add --device; paste both lines):
         export PATH=$(dirname "$(env_get PORTICO_BIN)"):$(dirname "$(env_get KUBECTL)"):\$PATH KUBECONFIG=$kubeconfig
         portico login $url && portico kubeconfig --cluster acme-prod && kubectl get pods -n shop
    5. Sign out, and in again as vera. She reads the same pods; terminal, scale and delete are disabled and say why,
       Secrets are not hers to read, Prometheus says which role opens it. The API server refuses her too:
         portico login $url && kubectl exec -n shop deploy/checkout -- id
TEXT
if [ "$with_magnum" = yes ]; then
  cat <<TEXT

  OpenStack Magnum is there too ($(env_get MAGNUM_URL)), with a stand-in for the rest of the cloud. Of its clusters in
  acme shop-staging is complete, analytics has failed for quota, edge-cache is stalled; no machines belong to them.

  A new cluster, in use after two minutes: sign in as ada and open
    $url/projects/$(env_get PROJECT_ID_ACME)/managed-clusters/create
  with the template kubernetes-local (a real API server on this machine). The page of the cluster shows each step, and enrols
  the cluster when its API answers. Then, with the name that it has:
    portico login $url && portico kubeconfig --cluster NAME && kubectl --context NAME get namespaces
  ada is k8s_developer too, the role that an enrolment binds. Delete cluster shows first what goes and what stays, and
  afterwards what is left.
TEXT
fi
cat <<TEXT

  make demo-status, make demo-stop; all addresses and credentials: $env_file
TEXT
