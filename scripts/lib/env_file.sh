# The stack's env file, $state/env: `export NAME=value` lines in shell syntax, for people, tests and scripts. Sourced.

# env_set NAME VALUE [NAME VALUE]...: written as soon as known, one writer at a time, never half
env_set() {
  local name
  (
    exec 8> "$state/run/env.lock"
    flock 8
    touch "$env_file"
    cp "$env_file" "$env_file.new"
    while [ $# -gt 0 ]; do
      name=$1
      # nothing left is no failure
      grep -v "^export $name=" "$env_file.new" > "$env_file.next" || true
      printf 'export %s=%q\n' "$name" "$2" >> "$env_file.next"
      mv "$env_file.next" "$env_file.new"
      shift 2
    done
    sort -o "$env_file.new" "$env_file.new"
    chmod 600 "$env_file.new"
    mv "$env_file.new" "$env_file"
  )
}

# env_get NAME: empty when it is not there
env_get() {
  [ -f "$env_file" ] || return 0
  (
    unset "$1"
    . "$env_file"
    printf '%s' "${!1:-}"
  )
}
