/** The guide "Mail of cron and scripts" with cron, PHP, msmtp and dma. */
import type { ExecutionContext } from '#test'
import { Daemon, portOf, runCommand } from '../../support/daemon/daemon.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { testWith } from '../../support/peers/peers.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { arrived } from './arrived.ts'
import { blockOf, fileWith, GuideWalk } from './guide-walk.ts'

const guide = 'cron-sendmail'
const loginOptions = { allowed_from_domains: ['site.test'] }

/** Commands of PHP as php-fpm runs it: as the user of the web server, without variables. */
const asPhp = (subject: string): string =>
  `cd /var/www 2>/dev/null || cd /; setpriv --reuid www-data --regid www-data --clear-groups env -i /usr/bin/php -r '` +
  `exit(mail("ann@inbox.test", "${subject}", "Hello", "From: shop@site.test") ? 0 : 1);'\n`

/** Jobs that cron runs after its start, of root and of another user. */
const jobs = fileWith('/etc/cron.d/walk', '@reboot root echo "from a job of root"\n@reboot www-data echo "from a job of www-data"\n')

/** Runs cron in the foreground, without records of logins, which a container may not write. */
const cron = `sed -i '/pam_loginuid/d' /etc/pam.d/cron\nrm -f /run/crond.pid /run/crond.reboot\nexec cron -f\n`

const bySubject = (rows: readonly Record<string, unknown>[], t: ExecutionContext, subject: RegExp): Record<string, unknown> => {
  const found = rows.filter((row) => subject.test(String(row['subject'])))
  t.is(found.length, 1, `${String(subject)} in ${JSON.stringify(rows.map((row) => row['subject']))}`)
  return found[0] ?? {}
}

testWith(
  'cron',
  'php',
  'unshare',
)('the guide of cron: mail of cron, and of PHP without variables, reaches the daemon, or the spool', async (t) => {
  await using folder = await temporaryFolder('guide-cron')
  await using outer = await temporaryFolder('guide-cron-machine')
  await using daemon = await Daemon.start({ folder: folder.path })
  const made = await runCommand({ folder: folder.path }, 'key', 'create', 'mail of web1', '--send-only')
  const key = made.output.trim()
  const settings = await blockOf(guide, '/etc/default/postern-sendmail', {
    'http://127.0.0.1:8080': `http://${daemon.addresses.http}`,
    'svckey_…': key,
    'ops@example.com': 'ops@inbox.test',
  })
  await using walk = await GuideWalk.start(
    outer.path,
    [
      'id -u postern >/dev/null 2>&1 || useradd --system postern\n',
      fileWith('/etc/default/postern-sendmail', settings),
      await blockOf(guide, 'as root'),
      asPhp('From PHP'),
      // the daemon is away: mail waits only in the spool of the guide
      `sed -i s,^POSTERN_SENDMAIL_URL=.*,POSTERN_SENDMAIL_URL=http://127.0.0.1:1, /etc/default/postern-sendmail\n`,
      asPhp('While away'),
      'stat -c "kept: %U %G %a" /var/spool/postern/*.mail\n',
      'find / -xdev -name "*.mail" -newer /etc/default/postern-sendmail ! -path "/var/spool/postern/*" ! -path "/proc/*" | sed "s/^/lost: /"\n',
      fileWith('/etc/default/postern-sendmail', settings),
      'setpriv --reuid postern --regid postern --clear-groups sh -c "cat /var/spool/postern/*.mail" | grep -c "While away"\n',
      '/usr/sbin/sendmail -q\n',
      'test -z "$(ls /var/spool/postern)"\n',
      jobs,
      cron,
    ].join(''),
  )
  const rows = await arrived(daemon, walk, 4)
  t.regex(walk.output, /^kept: www-data postern 640$/m)
  t.notRegex(walk.output, /lost: /, 'ledger: mail is stored where no daemon looks')
  t.like(bySubject(rows, t, /^From PHP$/), { intended_from: 'shop@site.test', intended_to: ['ann@inbox.test'] })
  bySubject(rows, t, /^While away$/)
  for (const user of ['root', 'www-data'])
    t.like(bySubject(rows, t, new RegExp(`^Cron <${user}@.*from a job of ${user}`)), { intended_to: ['ops@inbox.test'] })
})

testWith(
  'cron',
  'msmtp',
  'unshare',
)('the guide of cron from another machine: msmtp sends the mail of cron by a login', async (t) => {
  await using folder = await temporaryFolder('guide-msmtp')
  await using outer = await temporaryFolder('guide-msmtp-machine')
  await using daemon = await Daemon.start({ folder: folder.path })
  const destination = await makeDestination(daemon.rest, { name: 'sandbox', port: 25, mode: 'sandbox' })
  const { username, password } = await makeLogin(daemon.rest, destination, loginOptions)
  const msmtprc = await blockOf(guide, '/etc/msmtprc', {
    'tls on': 'tls off', // the certificate of this daemon is self-signed
    'auth on': 'auth plain',
    'mail.example.com': '127.0.0.1',
    'port 587': `port ${String(portOf(daemon.addresses.submission[0]))}`,
    'smtp_…': username,
    'password …': `password ${password}`,
    '%U@example.com': '%U@site.test',
  })
  await using walk = await GuideWalk.start(
    outer.path,
    [
      'rm -f /usr/sbin/sendmail\nln -s /usr/bin/msmtp /usr/sbin/sendmail\n', // as msmtp-mta creates it
      fileWith('/etc/msmtprc', msmtprc, '644'),
      fileWith('/etc/msmtp.aliases', 'default: ops@inbox.test\n'),
      jobs,
      cron,
    ].join(''),
  )
  const rows = await arrived(daemon, walk, 2)
  for (const user of ['root', 'www-data'])
    t.like(bySubject(rows, t, new RegExp(`^Cron <${user}@`)), { intended_from: `${user}@site.test`, intended_to: ['ops@inbox.test'] })
})

testWith(
  'cron',
  'dma',
  'unshare',
)('mail of cron through dma arrives, and so does the bounce of dma', async (t) => {
  await using folder = await temporaryFolder('guide-dma')
  await using outer = await temporaryFolder('guide-dma-machine')
  await using daemon = await Daemon.start({ folder: folder.path })
  const destination = await makeDestination(daemon.rest, { name: 'sandbox', port: 25, mode: 'sandbox' })
  const { username, password } = await makeLogin(daemon.rest, destination, loginOptions)
  const settings = [
    'SMARTHOST 127.0.0.1',
    `PORT ${String(portOf(daemon.addresses.submission[0]))}`,
    'AUTHPATH /etc/dma/auth.conf',
    'ALIASES /etc/aliases',
    'INSECURE',
    'MAILNAME web1.site.test',
    'MASQUERADE root@site.test',
  ]
  const letter = 'From: author@foreign.test\nTo: ann@inbox.test\nSubject: not mine to send\n\nHello\n'
  await using walk = await GuideWalk.start(
    outer.path,
    [
      'dpkg-deb -x /var/cache/postern-peers/dma_*.deb /\n', // next to the mail server of this machine
      'chgrp mail /usr/sbin/dma; chmod 2755 /usr/sbin/dma; install -d -o root -g mail -m 2775 /var/spool/dma\n',
      fileWith('/etc/dma/dma.conf', `${settings.join('\n')}\n`),
      fileWith('/etc/dma/auth.conf', `${username}|127.0.0.1:${password}\n`, '640'),
      'chgrp mail /etc/dma/auth.conf\nrm -f /usr/sbin/sendmail\nln -s dma /usr/sbin/sendmail\n',
      fileWith('/etc/aliases', 'root: ops@inbox.test\n'),
      fileWith('/mnt/letter', letter),
      fileWith('/etc/cron.d/walk', '@reboot root echo "from a job of root"\n'),
      '/usr/sbin/sendmail -f author@foreign.test -t -i </mnt/letter\n',
      cron,
    ].join(''),
  )
  const rows = await arrived(daemon, walk, 2)
  t.like(bySubject(rows, t, /^Cron <root@/), { intended_to: ['ops@inbox.test'] })
  t.like(bySubject(rows, t, /^Mail delivery failed/), { intended_from: '', intended_to: ['root@site.test'] })
})
