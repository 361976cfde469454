# Steps of a longer run, one line each with elapsed and usual time; several may run at once. Sourced.
#
#   step_begin TITLE USUAL COMMAND...   starts one in the background
#   steps_finish                        waits for all begun; on a failure ends the others and the run
#   step TITLE USUAL COMMAND...         both
#
# A step's output goes to $state/log/steps/. Ctrl-C ends the steps; services they have started stay, and the next run continues.

step_pids=()
step_titles=()
step_usual=()
step_started=()
step_logs=()

step_begin() {
  local title=$1 usual=$2 log
  shift 2
  mkdir -p "$state/log/steps"
  log=$state/log/steps/$(printf %s "${title,,}" | tr -c 'a-z0-9' '-').log
  setsid "$@" > "$log" 2>&1 < /dev/null 9>&- &
  step_pids+=($!)
  step_titles+=("$title")
  step_usual+=("$usual")
  step_started+=("$SECONDS")
  step_logs+=("$log")
}

step() {
  step_begin "$@"
  steps_finish
}

steps_finish() {
  local announced=$SECONDS i
  trap steps_interrupted INT TERM
  while [ ${#step_pids[@]} -gt 0 ]; do
    for i in "${!step_pids[@]}"; do
      kill -0 "${step_pids[i]}" 2> /dev/null || step_end "$i"
    done
    [ ${#step_pids[@]} -gt 0 ] || break
    if [ -t 1 ]; then
      steps_show
    elif [ $((SECONDS - announced)) -ge 60 ]; then
      steps_show
      announced=$SECONDS
    fi
    sleep 0.2
  done
  trap - INT TERM
}

step_end() {
  local i=$1 result=0 took
  wait "${step_pids[i]}" || result=$?
  took=$(human_seconds $((SECONDS - step_started[i])))
  clear_line
  if [ $result = 0 ]; then
    printf '  ok      %-42s %12s   (%s)\n' "${step_titles[i]}" "$took" "${step_usual[i]}"
    step_forget "$i"
    return 0
  fi
  printf '  FAILED  %-42s %12s\n' "${step_titles[i]}" "$took"
  tail -n 20 "${step_logs[i]}" | sed 's/^/          | /'
  say "          all of it: ${step_logs[i]}"
  step_forget "$i"
  steps_kill
  exit 1
}

step_forget() {
  unset "step_pids[$1]" "step_titles[$1]" "step_usual[$1]" "step_started[$1]" "step_logs[$1]"
}

# what runs: a line that is written over on a terminal, one now and then elsewhere
steps_show() {
  local i text=""
  for i in "${!step_pids[@]}"; do
    text+="${text:+, }${step_titles[i]} $(human_seconds $((SECONDS - step_started[i]))) (${step_usual[i]})"
  done
  if [ -t 1 ]; then
    clear_line
    printf '  ...     %s' "${text:0:$((${COLUMNS:-$(tput cols 2> /dev/null || echo 100)} - 12))}"
  else
    say "  ...     $text"
  fi
}

clear_line() { if [ -t 1 ]; then printf '\r\033[K'; fi; }

steps_kill() {
  local pid
  # those that have ended need no signal
  for pid in ${step_pids[@]+"${step_pids[@]}"}; do kill -TERM -- "-$pid" 2> /dev/null || true; done
  wait 2> /dev/null || true
}

steps_interrupted() {
  trap - INT TERM
  clear_line
  steps_kill
  say "  Interrupted. The next start continues from here."
  exit 130
}
