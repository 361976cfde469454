#!/usr/bin/env bash
# install.sh: what release.sh has built, below PREFIX (default: /usr/local), and the service's user with its state
# directory. With DESTDIR, for packages, the files only. PROFILE (default: release) is a directory of target.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

prefix=${DESTDIR:-}${PREFIX:-/usr/local}
target=${CARGO_TARGET_DIR:-target}
program=$target/${PROFILE:-release}/portico
[ -x "$program" ] && [ -d "$target/site/pkg" ] || {
  echo "install: $program or $target/site is not there: run make release first" >&2
  exit 1
}

install -D -m 755 "$program" "$prefix/bin/portico"
# replaced as a whole: the pages name their files by content
rm -rf "$prefix/share/portico/site.new"
mkdir -p "$prefix/share/portico"
cp -r --no-preserve=mode,ownership "$target/site" "$prefix/share/portico/site.new"
rm -rf "$prefix/share/portico/site"
mv "$prefix/share/portico/site.new" "$prefix/share/portico/site"

if [ -z "${DESTDIR:-}" ] && [ "$(id -u)" = 0 ]; then
  id portico > /dev/null 2>&1 ||
    useradd --system --user-group --home-dir /var/lib/portico --shell /usr/sbin/nologin portico
  install -d -m 700 -o portico -g portico /var/lib/portico
fi
