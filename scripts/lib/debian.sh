# Debian packages unpacked below a directory, not installed: a private apt with the machine's own sources, whose
# signatures apt checks as ever. /etc/apt and the installed packages stay as they are. Sourced.

# private_apt [--source] DIR [RELEASE]: reads the package lists, those of source packages too if asked; then apt_private and
# apt_private_cache work on them. Container images configure apt to compress the lists again and to keep no cache
# of them, which each command would pay for.
private_apt() {
  local codename sources=()
  if [ "$1" = --source ]; then
    sources=(--source)
    shift
  fi
  codename=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || die "this needs Debian"
  mkdir -p "$1"/{lists/partial,archives/partial}
  python3 "$root/scripts/lib/debian_sources.py" "${sources[@]}" "$codename" ${2:+"$2"} > "$1/sources.list"
  private_apt_options=(
    -o "Dir::Etc::sourcelist=$1/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$1/lists" -o Dir::State::status=/dev/null -o "Dir::Cache=$1" -o "Dir::Cache::archives=$1/archives"
    -o APT::Sandbox::User=root -o Acquire::Retries=3 -o Acquire::Languages=none
    -o Acquire::GzipIndexes=false -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    -o Dir::Cache::pkgcache=pkgcache.bin -o Dir::Cache::srcpkgcache=srcpkgcache.bin
  )
  apt_private -qq update
}
apt_private() { apt-get "${private_apt_options[@]}" "$@"; }
apt_private_cache() { apt-cache "${private_apt_options[@]}" "$@"; }

# unpack_debian WORK TARGET PACKAGE...
unpack_debian() {
  local work=$1 target=$2 package
  shift 2
  rm -rf "$work/packages"
  mkdir -p "$work/packages" "$target"
  (cd "$work/packages" && apt_private -qq download "$@")
  for package in "$work"/packages/*.deb; do dpkg-deb --extract "$package" "$target"; done
  rm -rf "$work/packages"
}
