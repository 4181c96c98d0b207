#!/bin/sh
# Runs FOLDER/files/walk as root in an overlay of this system, with a checkout as the installed program: guide-walk.sh FOLDER CHECKOUT NODE,
# in mount and process namespaces of its own.
set -eu
folder=$1 checkout=$2 node=$3
root=$folder/system/root
mount --make-rprivate /
mount -t tmpfs overlay "$folder/system"
mkdir "$folder/system/upper" "$folder/system/work" "$root"
mount -t overlay -o "lowerdir=/,upperdir=$folder/system/upper,workdir=$folder/system/work" overlay "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$folder/files" "$root/mnt"
mkdir -p "$root/opt/postern"
mount --bind "$checkout" "$root/opt/postern"
rm -f "$root/usr/bin/node" "$root/usr/bin/postern"
touch "$root/usr/bin/node"
mount --bind "$node" "$root/usr/bin/node"
ln -s /opt/postern/daemon/postern.js "$root/usr/bin/postern"
exec chroot "$root" sh -eu /mnt/walk
