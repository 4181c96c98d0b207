/** The guide "Exim as a satellite" with Exim 4, with Debian's configuration and with a separate one. */
import type { ExecutionContext } from '#test'
import { Daemon, portOf } from '../../support/daemon/daemon.ts'
import { makeDestination, makeLogin } from '../../support/daemon/provision.ts'
import { testWith } from '../../support/peers/peers.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { arrived } from './arrived.ts'
import { blockOf, fileWith, GuideWalk } from './guide-walk.ts'

const guide = 'exim'
const test = testWith('exim', 'eximBase', 'eximConfig', 'gnutlsDane', 'liblockfile', 'liblockfileBin', 'mailx', 'unshare')

/** Exim replaces the mail server of this machine in the overlay. */
const installed = (questions: string): string =>
  'export DEBIAN_FRONTEND=noninteractive\n' +
  'dpkg --purge --force-all postfix >/dev/null 2>&1\n' +
  `debconf-set-selections <<'ANSWERS'\n${questions}ANSWERS\n` +
  'cd /var/cache/postern-peers\n' +
  'dpkg -i --force-depends exim4-*.deb bsd-mailx_*.deb liblockfile*.deb >/mnt/installed 2>&1 || { cat /mnt/installed; exit 1; }\n'

/** Values of the guide for `dpkg-reconfigure exim4-config`. */
const answers = (port: number): string =>
  [
    'exim4/dc_eximconfig_configtype select mail sent by smarthost; no local mail',
    'exim4/mailname string example.com',
    `exim4/dc_smarthost string 127.0.0.1::${String(port)}`,
    'exim4/dc_readhost string example.com',
    'exim4/hide_mailname boolean true',
  ]
    .map((answer) => `exim4-config ${answer}\n`)
    .join('')

const hello = 'echo "It works." | mail -s Hello customer@example.org\n'
const log = 'sleep 1; cat /var/log/exim4/mainlog; exec sleep infinity\n'

interface Place {
  readonly daemon: Daemon
  readonly port: number
  readonly username: string
  readonly password: string
}

async function placeOf(folder: string, env: Readonly<Record<string, string>>): Promise<Place> {
  const daemon = await Daemon.start({ folder, env })
  const destination = await makeDestination(daemon.rest, { name: 'sandbox', port: 25, mode: 'sandbox' })
  const { username, password } = await makeLogin(daemon.rest, destination, { allowed_from_domains: ['example.com'] })
  return { daemon, port: portOf(daemon.addresses.submission[0]), username, password }
}

async function assertHello(t: ExecutionContext, daemon: Daemon, walk: GuideWalk): Promise<void> {
  const [row] = await arrived(daemon, walk, 1)
  t.like(row, { subject: 'Hello', intended_from: 'root@example.com', intended_to: ['customer@example.org'] })
}

test('Exim guide, Debian: mail of the machine reaches the local daemon', async (t) => {
  await using folder = await temporaryFolder('guide-exim')
  await using outer = await temporaryFolder('guide-exim-machine')
  const { daemon: started, port, username, password } = await placeOf(folder.path, {})
  await using daemon = started
  const login = `127.0.0.1:${username}:${password}`
  const passwords = await blockOf(guide, '/etc/exim4/passwd.client', { 'mail.example.com:smtp_…:…': login })
  const beside = await blockOf(guide, 'next to Postern', { 'sudo ': '' })
  await using walk = await GuideWalk.start(
    outer.path,
    [
      installed(answers(port)),
      fileWith('/etc/exim4/passwd.client', passwords, '640'),
      'chown root:Debian-exim /etc/exim4/passwd.client\n',
      beside,
      hello,
      log,
    ].join(''),
  )
  await assertHello(t, daemon, walk)
})

test('Exim guide, separate configuration: mail reaches the daemon over TLS', async (t) => {
  await using folder = await temporaryFolder('guide-exim-own')
  await using outer = await temporaryFolder('guide-exim-own-machine')
  // Exim logs in only after TLS has begun, because the daemon offers AUTH only then
  const { daemon: started, port, username, password } = await placeOf(folder.path, { POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'never' })
  await using daemon = started
  const own = await blockOf(guide, 'exim.conf', {
    '# ': 'begin ',
    'mail.example.com::587': `127.0.0.1::${String(port)}`,
    '^smtp_…^…': `^${username}^${password}`,
  })
  await using walk = await GuideWalk.start(
    outer.path,
    [
      installed(answers(port)),
      fileWith('/etc/exim4/exim4.conf', `primary_hostname = example.com\ndomainlist local_domains = localhost\n${own}`),
      hello,
      log,
    ].join(''),
  )
  await assertHello(t, daemon, walk)
})
