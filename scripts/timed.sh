#!/usr/bin/env bash
# timed.sh NAME COMMAND...: runs a stage and prints its seconds.
set -euo pipefail

name=$1
shift
printf '\n== %s\n' "$name"
started=$SECONDS
result=0
"$@" || result=$?
if [ $result = 0 ]; then outcome=passed; else outcome=FAILED; fi
printf '== %s %s after %d s\n' "$name" "$outcome" $((SECONDS - started))
exit $result
