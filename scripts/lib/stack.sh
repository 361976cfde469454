# Where the stack of this run lives: project root, cache, profile, ports, state directory. Sourced first by every script.
#
#   PORTICO_PROFILE   a file of scripts/profiles (default: demo)
#   PORTICO_STATE     the state directory (default: the profile's own, in the project root)
#   PORTICO_CACHE     what is built or downloaded once (default: ~/.cache/portico)
#   STACK_PORT_NAME   another port for one service, such as STACK_PORT_GATEWAY=8081; kept in the state directory

umask 077
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/lib/output.sh"
. "$root/scripts/lib/process.sh"
. "$root/scripts/lib/env_file.sh"

cache=${PORTICO_CACHE:-$HOME/.cache/portico}
profile=${PORTICO_PROFILE:-demo}
[ -f "$root/scripts/profiles/$profile.sh" ] || die "there is no profile '$profile' in scripts/profiles"
declare -A port
. "$root/scripts/profiles/$profile.sh"

state=${PORTICO_STATE:-$root/$profile_state}
mkdir -p "$cache" "$state"/{log,run}
cache=$(cd "$cache" && pwd)
state=$(cd "$state" && pwd)
env_file=$state/env
# what `portico init` wrote for this stack; see services/portico/installation.sh
installation=$state/portico

# Two stacks on one machine must differ in what lives outside their state directories.
stack_id=$(printf %s "$state" | sha256sum | cut -c1-8)
readonly root cache profile state env_file installation stack_id

# ports: from the environment, else those of the last start, else the profile's
load_ports() {
  local name value override
  if [ -f "$state/ports" ]; then
    while IFS='=' read -r name value; do
      [ -z "${port[$name]:-}" ] || port[$name]=$value
    done < "$state/ports"
  fi
  for name in "${!port[@]}"; do
    override=STACK_PORT_${name^^}
    if [ -n "${!override:-}" ]; then
      port[$name]=${!override}
    fi
  done
}
save_ports() {
  local name
  for name in "${!port[@]}"; do echo "$name=${port[$name]}"; done | sort > "$state/ports"
}
load_ports
