# Processes by recorded pid and start time, so that a pid used again by the kernel is never mistaken for ours. Sourced.
# Records are $state/run/NAME.pid ("pid starttime"), output goes to $state/log/NAME.log.

start_time() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  stat=${stat##*) }
  # shellcheck disable=SC2086
  set -- $stat
  [ "$1" != Z ] && echo "${20}"
}

running() {
  local pid started
  [ -f "$state/run/$1.pid" ] || return 1
  read -r pid started < "$state/run/$1.pid" || return 1
  [ "$(start_time "$pid")" = "$started" ]
}

pid_of() { cut -d' ' -f1 "$state/run/$1.pid"; }

# launch NAME COMMAND...: in a session of its own, so that Ctrl-C in a terminal does not reach it
launch() {
  local name=$1 pid
  shift
  mkdir -p "$(dirname "$state/log/$name.log")" "$(dirname "$state/run/$name.pid")"
  setsid "$@" >> "$state/log/$name.log" 2>&1 < /dev/null 8>&- 9>&- &
  pid=$!
  # it may have ended already, which wait_until tells
  echo "$pid $(start_time "$pid" || true)" > "$state/run/$name.pid"
  disown "$pid"
}

# terminate NAME SECONDS: TERM, then KILL when it is still there after that long (0: KILL at once)
terminate() {
  local pid i
  if running "$1"; then
    pid=$(pid_of "$1")
    # it may end by itself between a look and a signal
    [ "$2" = 0 ] || kill -TERM "$pid" 2>/dev/null || true
    for ((i = 0; i < $2 * 20; i++)); do
      running "$1" || break
      sleep 0.05
    done
    if running "$1"; then
      kill -KILL "$pid" 2>/dev/null || true
      for ((i = 0; i < 100; i++)); do
        running "$1" || break
        sleep 0.05
      done
    fi
  fi
  rm -f "$state/run/$1.pid"
}

# wait_until SECONDS NAME COMMAND...: until the command succeeds; fails at once when the process NAME has ended
wait_until() {
  local deadline=$((SECONDS + $1)) name=$2
  shift 2
  until "$@" > /dev/null 2>&1; do
    running "$name" || gave_up "$name" "ended"
    [ "$SECONDS" -lt "$deadline" ] || gave_up "$name" "is not ready"
    sleep 0.2
  done
}

gave_up() {
  # without a log there is nothing to show
  tail -n 15 "$state/log/$1.log" >&2 2>/dev/null || true
  die "$1 $2; see $state/log/$1.log"
}

answers() { curl --silent --fail --max-time 5 --output /dev/null "$@"; }

# status_line NAME [URL]: one line for `status`; fails when the process is not there
status_line() {
  local pid memory
  if ! running "$1"; then
    printf '  %-24s stopped\n' "$1"
    return 1
  fi
  pid=$(pid_of "$1")
  # it may end between the look and this
  memory=$(awk '/^VmRSS/ { printf "%d MiB", $2 / 1024 }' "/proc/$pid/status" 2>/dev/null || true)
  printf '  %-24s running  pid %-8s %-9s %s\n' "$1" "$pid" "$memory" "${2:-}"
}
