# The images that the nodes know, written as archives that containerd imports. Sourced by build.sh.

# write_image REFERENCE ROOTFS ARCHIVE CONFIG (JSON members)
write_image() {
  local parts=$work/image layer id
  rm -rf "$parts"
  mkdir -p "$parts"
  reproducible_tar "$2" "$parts/layer.tar"
  layer=$(sha256sum < "$parts/layer.tar" | cut -d' ' -f1)
  printf '{"architecture":"%s","os":"linux","created":"1970-01-01T00:00:00Z","config":{%s},' \
    "$(dpkg --print-architecture)" "$4" > "$parts/config"
  printf '"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"1970-01-01T00:00:00Z"}]}' \
    "$layer" >> "$parts/config"
  id=$(sha256sum < "$parts/config" | cut -d' ' -f1)
  mv "$parts/config" "$parts/$id.json"
  printf '[{"Config":"%s.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$id" "$1" > "$parts/manifest.json"
  reproducible_tar "$parts" "$3"
  rm -rf "$parts"
}

reproducible_tar() {
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --directory "$1" --create --file "$2" .
}

pause_image() {
  local rootfs=$work/rootfs
  rm -rf "$rootfs" && mkdir -p "$rootfs"
  go build -trimpath -ldflags '-s -w' -o "$rootfs/pause" "$root/scripts/kubernetes/pause/main.go"
  write_image localhost/pause:1 "$rootfs" "$target/images/pause.tar" '"Entrypoint":["/pause"]'
}

busybox_image() {
  local rootfs=$work/rootfs applet
  rm -rf "$rootfs" && mkdir -p "$rootfs"/{bin,sbin,usr/bin,usr/sbin,etc,tmp,root,srv,var/lib,proc,sys,dev}
  chmod 1777 "$rootfs/tmp"
  install -m 755 "$unpacked/bin/busybox" "$rootfs/bin/busybox"
  for applet in $("$rootfs/bin/busybox" --list); do
    [ "$applet" = busybox ] || ln -s busybox "$rootfs/bin/$applet"
  done
  printf 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000:app:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' > "$rootfs/etc/passwd"
  printf 'root:x:0:\napp:x:1000:\nnogroup:x:65534:\n' > "$rootfs/etc/group"
  write_image localhost/busybox:1.35 "$rootfs" "$target/images/busybox.tar" \
    '"Env":["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],"Cmd":["sh"]'
}

# A newer version of the same image, to which a workload is changed: it has a label more. It is made of the first one's
# archive, so that an earlier build gets it too.
busybox_next_image() {
  local archive=$target/images/busybox-next.tar parts=$work/next id next
  [ ! -f "$archive" ] || return 0
  rm -rf "$parts"
  mkdir -p "$parts"
  tar --directory "$parts" --extract --file "$target/images/busybox.tar"
  id=$(sed -n 's/.*"Config":"\([0-9a-f]*\)\.json".*/\1/p' "$parts/manifest.json")
  sed -i 's/"config":{/"config":{"Labels":{"dev.portico.version":"next"},/' "$parts/$id.json"
  next=$(sha256sum < "$parts/$id.json" | cut -d' ' -f1)
  mv "$parts/$id.json" "$parts/$next.json"
  sed -i -e "s/$id/$next/" -e 's#busybox:1\.35#busybox:1.35-next#' "$parts/manifest.json"
  reproducible_tar "$parts" "$archive.new"
  mv "$archive.new" "$archive"
  rm -rf "$parts"
}
