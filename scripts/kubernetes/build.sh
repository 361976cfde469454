#!/usr/bin/env bash
# build.sh: Kubernetes 1.20.2 compiled from Debian's source package, and what runs beside it from Debian's binary packages
# (etcd, containerd, runc, CNI plugins), all below $cache/kubernetes: bin/, cni/, images/. Nothing is installed. Run again it
# does nothing; after an interruption, it continues with what the compiler had finished.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../lib/stack.sh"
. "$here/../lib/debian.sh"
. "$here/images.sh"
umask 022

version=v1.20.2
source_version='1\.20\.5\+really1\.20\.2-'
recipe=1 # raise it when what this script makes changes
programs=(kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl)
beside=(usr/bin/etcd usr/bin/etcdctl usr/bin/containerd usr/bin/containerd-shim-runc-v2 usr/bin/ctr usr/sbin/runc)
plugins=(bridge host-local loopback)
# the same for all programs, which share packages; debug information, which -w leaves out, is not generated either
build_flags=(-trimpath -gcflags all=-dwarf=false)

target=$cache/kubernetes
work=$cache/kubernetes-work
unpacked=$work/unpacked
source=$work/go/src/k8s.io/kubernetes
stamp=$target/VERSION

complete() {
  local file
  grep -qx "recipe $recipe" "$stamp" 2> /dev/null || return 1
  for file in "${programs[@]}" "${beside[@]##*/}"; do [ -x "$target/bin/$file" ] || return 1; done
  for file in "${plugins[@]}"; do [ -x "$target/cni/$file" ] || return 1; done
}

fetch() {
  command -v dpkg-source > /dev/null || die "dpkg-source is missing: install the package dpkg-dev"
  say "reading Debian's package lists"
  private_apt --source "$work/apt"
  say "downloading"
  unpack_debian "$work" "$unpacked" golang-1.19-go golang-1.19-src golang-github-modern-go-reflect2-dev \
    etcd-server etcd-client containerd runc containernetworking-plugins busybox-static
  fetch_source
}

fetch_source() {
  local found
  [ ! -f "$source/.complete" ] || return 0
  found=$(apt_private_cache showsrc --only-source kubernetes | awk '$1 == "Version:" { print $2 }' |
    grep -E "^$source_version" | sort --version-sort | tail -n 1)
  [ -n "$found" ] || die "the source package kubernetes 1.20.2 is not in this machine's Debian archive"
  rm -rf "$source" "$work/source"
  mkdir -p "$work/source" "$(dirname "$source")"
  (
    cd "$work/source"
    apt_private -qq source --download-only "kubernetes=$found"
    dpkg-source --no-check --extract kubernetes_*.dsc "$source" > /dev/null
  )
  rm -rf "$work/source"
  patch_source
  echo "$found" > "$source/.complete"
}

patch_source() {
  # The vendored reflect2 1.0.1 calls into the Go runtime by a signature that Go 1.18 changed, and corrupts memory when a map
  # is encoded as JSON (a custom resource is enough): the one that Debian packages fits.
  local reflect2=vendor/github.com/modern-go/reflect2
  rm -rf "${source:?}/$reflect2"
  cp -r "$unpacked/usr/share/gocode/src/github.com/modern-go/reflect2" "$source/$reflect2"
  # The kubelet would ask three clouds' metadata addresses for credentials to registries; images here are local ones.
  sed -i '/credentialprovider\/\(aws\|azure\|gcp\)"/d' "$source/cmd/kubelet/app/plugins.go"
}

prepare_go() {
  export GOROOT=$unpacked/usr/lib/go-1.19
  export PATH=$GOROOT/bin:$PATH
  # as this version's own build does it: GOPATH mode, and nothing but ./vendor
  export GO111MODULE=off GOPATH=$work/go GOCACHE=$work/go-cache GOFLAGS='' GOPROXY=off CGO_ENABLED=0 GOTOOLCHAIN=local HOME=$work
  # most packages are compiled in a second or two: their memory is collected less often, unless there is much of it
  export GOGC=400 GOMEMLIMIT=1536MiB
}

# the one generated file that the source package lacks
generate_openapi() {
  local generated=pkg/generated/openapi packages
  [ ! -s "$generated/zz_generated.openapi.go" ] || return 0
  go build "${build_flags[@]}" -o "$work/openapi-gen" ./vendor/k8s.io/kube-openapi/cmd/openapi-gen
  packages=$({
    grep --recursive --files-with-matches --include='*.go' '+k8s:openapi-gen=' pkg cmd plugin
    (cd staging/src && grep --recursive --files-with-matches --include='*.go' '+k8s:openapi-gen=' k8s.io | sed 's#^#vendor/#')
  } | xargs -n 1 dirname | LC_ALL=C sort -u | grep -vE '^vendor/k8s.io/(code-generator|sample-apiserver)/' |
    sed 's#^#k8s.io/kubernetes/#' | paste -sd,)
  "$work/openapi-gen" --logtostderr -i "$packages" -p "k8s.io/kubernetes/$generated" -O zz_generated.openapi.new \
    -h hack/boilerplate/boilerplate.generatego.txt -r "$work/openapi.report"
  mv "$generated/zz_generated.openapi.new.go" "$generated/zz_generated.openapi.go"
}

compile() {
  local flags='-s -w' package program packages=()
  for package in component-base/version client-go/pkg/version; do
    package=k8s.io/kubernetes/vendor/k8s.io/$package
    flags+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=20"
    flags+=" -X $package.gitTreeState=archive -X $package.buildDate=2021-01-13T00:00:00Z"
  done
  for program in "${programs[@]}"; do packages+=("./cmd/$program"); done
  rm -rf "$work/programs"
  mkdir -p "$work/programs"
  # without the cloud providers' kits and the Docker shim; all in one build, so that one program is linked while others compile
  go build "${build_flags[@]}" -tags providerless,dockerless -ldflags "$flags" -o "$work/programs/" "${packages[@]}"
  mv "$work/programs"/* "$target/bin/"
}

collect() {
  local file
  for file in "${beside[@]}"; do install -m 755 "$unpacked/$file" "$target/bin/"; done
  for file in "${plugins[@]}"; do install -m 755 "$unpacked/usr/lib/cni/$file" "$target/cni/"; done
  pause_image
  busybox_image
  rm -f "$target/images/busybox-next.tar"
  busybox_next_image
}

# Its many small files take minutes to delete beside a compiler: nothing waits for that, or has the lock meanwhile. What an
# interrupted run has left is deleted too.
discard_work() {
  mv "$work" "$(mktemp -d "$cache/kubernetes-discarded.XXXXXX")"
  {
    chmod -R u+w "$cache"/kubernetes-discarded.*
    rm -rf "$cache"/kubernetes-discarded.*
  } 9>&- > /dev/null 2>&1 < /dev/null &
  disown
}

mkdir -p "$target"/{bin,cni,images}
exec 9> "$target/.lock"
flock 9
mkdir -p "$work"
if complete; then
  busybox_next_image
  discard_work
  say "already built"
  exit 0
fi
rm -f "$stamp"
fetch
prepare_go
(cd "$source" && generate_openapi && compile)
collect
printf 'recipe %s\nkubernetes %s\n' "$recipe" "$(cat "$source/.complete")" > "$stamp"
discard_work
say "built in $(human_seconds $SECONDS)"
