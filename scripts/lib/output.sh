# What scripts say. Sourced.

say() { printf '%s\n' "$*"; }
note() { printf '  %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2
  exit 1
}

# seconds as people write them: 8 s, 3 min 05 s
human_seconds() {
  if [ "$1" -lt 60 ]; then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}
