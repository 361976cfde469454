#!/usr/bin/env bash
# timed.sh NAME COMMAND...: runs a stage and prints its seconds. They are also appended to PORTICO_STAGE_TIMES, if it names a file;
# a stage within another is indented, and comes before it.
set -euo pipefail

name=$1
shift
depth=${PORTICO_STAGE_DEPTH:-0}
export PORTICO_STAGE_DEPTH=$((depth + 1))
printf '\n== %s\n' "$name"
started=$SECONDS
result=0
"$@" || result=$?
if [ $result = 0 ]; then outcome=passed; else outcome=FAILED; fi
seconds=$((SECONDS - started))
printf '== %s %s after %d s\n' "$name" "$outcome" $seconds
if [ -n "${PORTICO_STAGE_TIMES:-}" ]; then
  printf '%6d s  %*s%s\n' $seconds $((depth * 2)) '' "$name" >> "$PORTICO_STAGE_TIMES"
fi
exit $result
