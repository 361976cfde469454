#!/usr/bin/env bash
# alert-rules.sh: promtool's checks of deploy/prometheus, and of the demo's rules. promtool is the stack's, else the machine's.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/stack.sh"

promtool=$cache/debian/usr/bin/promtool
if [ ! -x "$promtool" ] && ! promtool=$(command -v promtool); then
  "$root/scripts/services/debian-install.sh"
  promtool=$cache/debian/usr/bin/promtool
fi

"$promtool" check rules "$root/deploy/prometheus/portico.rules.yaml" "$root/deploy/demo/alerts.yaml"
# rule_files are looked for where the tests lie
cd "$root/deploy/prometheus"
"$promtool" test rules portico.tests.yaml
