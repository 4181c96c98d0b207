#!/bin/sh
# Installs, upgrades, removes and purges the packages of a folder in an overlay of this system: debian-walk.sh FOLDER, in a mount
# namespace of its own. Prints what the test compares.
set -eu
folder=$1
mount --make-rprivate /
mount -t tmpfs overlay "$folder/system"
mkdir "$folder/system/upper" "$folder/system/work" "$folder/system/root"
mount -t overlay -o "lowerdir=/,upperdir=$folder/system/upper,workdir=$folder/system/work" overlay "$folder/system/root"
mount -t proc proc "$folder/system/root/proc"
mount --rbind /dev "$folder/system/root/dev"
mount --bind "$folder/packages" "$folder/system/root/mnt"

chroot "$folder/system/root" sh -eu <<'WALK'
export DEBIAN_FRONTEND=noninteractive
cd /

serve() {
  : >/tmp/log
  setpriv --reuid postern --regid postern --clear-groups --no-new-privs --inh-caps=-all,+net_bind_service \
    --ambient-caps +net_bind_service env POSTERN_CONFIG=/etc/postern/postern.json \
    /usr/bin/postern serve --ready-file /var/lib/postern/ready >/tmp/log 2>&1 &
  pid=$!
  tail -f /tmp/log --pid=$pid | grep -q -m1 '"msg":"ready"' || { cat /tmp/log; exit 1; }
}
end() { kill "$pid"; wait "$pid"; }
contents() { postern verify | grep -o '[0-9]* contents.*'; }
enabled() { test ! -L /etc/systemd/system/multi-user.target.wants/postern.service || echo "enabled $1"; }

dpkg -i /mnt/postern_1.0_amd64.deb >/dev/null
echo "installed: $(stat -c '%U %G %a' /var/lib/postern) $(stat -c '%U %G %a' /etc/postern/postern.json)"
test -e /lib/systemd/system/postern.service
enabled installed
test -x /usr/share/postern/postern-log-shipper
echo "bill of materials: $(grep -o CycloneDX /usr/share/doc/postern/sbom.cdx.json)"
zcat /usr/share/doc/postern/third-party-licences.gz | grep -q '^Node.js '

# the administrator's own settings, with a port that wants a privilege
cat >/etc/postern/postern.json <<'CONFIG'
{ "dataDir": "/var/lib/postern", "http": { "listen": "127.0.0.1:0" }, "mx": { "listen": ["127.0.0.1:0"] },
  "submission": { "listen": ["127.19.26.1:587"], "implicitTlsListen": [] } }
CONFIG
serve
postern send --from shop@example.com --to ada@example.net --text hello >/dev/null
end
before=$(contents)
postern backup /root/full 2>/dev/null

dpkg -i --force-confold /mnt/postern_1.1_amd64.deb >/dev/null
# started by root, it binds the port and becomes the user
: >/tmp/log
POSTERN_CONFIG=/etc/postern/postern.json POSTERN_USER=postern /usr/bin/postern serve --ready-file /var/lib/postern/ready >/tmp/log 2>&1 &
pid=$!
tail -f /tmp/log --pid=$pid | grep -q -m1 '"msg":"ready"' || { cat /tmp/log; exit 1; }
echo "threads: $(cat /proc/$pid/task/*/status | awk '/^(Uid|Gid|Groups|CapEff):/ { $1 = $1; print }' | sort -u | tr '\n' ';')"
echo "user: $(id -u postern) $(id -g postern)"
bash -c 'read -r line </dev/tcp/127.19.26.1/587 && echo "greeted: ${line:0:3}"'
end
mkdir /var/lib/other
POSTERN_DATA_DIR=/var/lib/other POSTERN_USER=postern postern serve 2>&1 | sed 's/^/refused: /' || true
rm -r /var/lib/other

echo "upgraded: $(dpkg-query -W -f '${Version}' postern) $(grep -c 127.19.26.1 /etc/postern/postern.json)"
serve
postern backup /root/later --since /root/full 2>/dev/null
end
echo "strangers: $(find /var/lib/postern ! -user postern | wc -l)"
install -d -o postern -g postern -m 0700 /var/lib/restored
postern restore /root/full /root/later --into /var/lib/restored
echo "strangers: $(find /var/lib/restored ! -user postern | wc -l)"

# what systemd would be asked, which does not run here
mkdir -p /run/systemd/system
rm -f /usr/sbin/policy-rc.d # of a container, where nothing is to be started
cat >/usr/local/sbin/systemctl <<'SYSTEMCTL'
#!/bin/sh
echo "$*" >>/tmp/asked
case "$*" in
  *is-enabled*) exec /usr/bin/systemctl --root=/ is-enabled postern.service ;;
  *is-active*) exit 3 ;;
esac
SYSTEMCTL
chmod +x /usr/local/sbin/systemctl
dpkg -r postern >/dev/null
test ! -e /usr/bin/postern
test -e /etc/postern/postern.json
dpkg -i /mnt/postern_1.1_amd64.deb >/dev/null
enabled 'after a removal'
sed -n '/ postern.service$/s/^/asked: /p' /tmp/asked
rmdir /run/systemd/system
dpkg -P postern
test ! -e /etc/postern/postern.json
enabled 'after a purge'
dpkg -i /mnt/postern_1.1_amd64.deb >/dev/null
echo "kept: $([ "$(contents)" = "$before" ] && echo "$before")"
WALK
