# Stages that run beside what follows, with the processor time that it leaves. Sourced; the script calls `end_begun` when it exits.
#
#   begin NICE NAME COMMAND...   starts a stage (timed.sh) with that niceness, in a session of its own; again, it does nothing
#   finish NAME                  waits for it, prints its output and fails as it did

declare -A begun_pid begun_output

begun() { [ -n "${begun_pid[$1]:-}" ]; }

begin() {
  local nice=$1 name=$2
  shift
  ! begun "$name" || return 0
  begun_output[$name]=$(mktemp)
  # a session may be a scheduling group, whose share a process's niceness does not change
  setsid bash -c '
    { echo "$0" > /proc/self/autogroup; } 2> /dev/null || true
    exec nice -n "$0" scripts/timed.sh "$@"
  ' "$nice" "$@" > "${begun_output[$name]}" 2>&1 < /dev/null &
  begun_pid[$name]=$!
  printf '\n== %s begins, beside the next stages\n' "$name"
}

finish() {
  local name=$1 result=0
  wait "${begun_pid[$name]}" || result=$?
  cat "${begun_output[$name]}"
  rm -f "${begun_output[$name]}"
  unset "begun_pid[$name]" "begun_output[$name]"
  return $result
}

# ends those that nothing has waited for, which is after a failure
end_begun() {
  local name
  for name in "${!begun_pid[@]}"; do
    kill -TERM -- "-${begun_pid[$name]}" 2> /dev/null || true
    wait "${begun_pid[$name]}" 2> /dev/null || true
    rm -f "${begun_output[$name]}"
  done
}
