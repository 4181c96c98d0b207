/** External programs that tests use: the list, the Debian package of each, and the missing ones on this machine. */
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'

interface Peer {
  /** The Debian package. */
  readonly package: string
  /** A file of the package, or a pattern of its path, that shows that it is installed. */
  readonly file: string
  /** The package is downloaded and not installed, since it would remove the mail server of the machine. Tests unpack it in an overlay. */
  readonly isUnpacked?: boolean
  /** Returns a reason if a requirement other than the package is missing. */
  readonly alsoNeeds?: () => string | undefined
}

/** Folder of downloaded packages that are not installed. */
export const unpackedFolder = '/var/cache/postern-peers'

const isThere = (pattern: string): boolean => globSync(pattern).length > 0

const modules = '/usr/lib/python3/dist-packages'

const root = (): string | undefined => (process.getuid?.() === 0 ? undefined : 'the right to start it as root')

/** Containers may forbid tracing, which the package needs. */
function tracing(): string | undefined {
  try {
    execFileSync('strace', ['-f', '-e', 'trace=none', '/bin/true'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'the right to trace processes'
  }
}

/** Containers may forbid mounting, which the overlay needs. */
function mounting(): string | undefined {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'the right to mount file systems'
  }
}

const peers = {
  actionmailer: { package: 'ruby-actionmailer', file: '/usr/share/rubygems-integration/all/gems/actionmailer-*/lib/action_mailer.rb' },
  beanshell: { package: 'libbsh-java', file: '/usr/share/java/bsh.jar' },
  chromium: { package: 'chromium-headless-shell', file: '/usr/bin/chromium-headless-shell' },
  clamav: { package: 'clamav-daemon', file: '/usr/sbin/clamd' },
  cron: { package: 'cron', file: '/usr/sbin/cron' },
  curl: { package: 'curl', file: '/usr/bin/curl' },
  django: { package: 'python3-django', file: `${modules}/django/__init__.py` },
  dma: { package: 'dma', file: `${unpackedFolder}/dma_*.deb`, isUnpacked: true },
  dkimpy: { package: 'python3-dkim', file: `${modules}/dkim/__init__.py` },
  dovecot: { package: 'dovecot-imapd', file: '/usr/lib/dovecot/imap' },
  exim: { package: 'exim4-daemon-light', file: `${unpackedFolder}/exim4-daemon-light_*.deb`, isUnpacked: true },
  eximBase: { package: 'exim4-base', file: `${unpackedFolder}/exim4-base_*.deb`, isUnpacked: true },
  eximConfig: { package: 'exim4-config', file: `${unpackedFolder}/exim4-config_*.deb`, isUnpacked: true },
  faketime: { package: 'libfaketime', file: '/usr/lib/*/faketime/libfaketime.so.1' },
  go: { package: 'golang-go', file: '/usr/bin/go' },
  gnutlsDane: { package: 'libgnutls-dane0', file: '/usr/lib/*/libgnutls-dane.so.0' },
  haproxy: { package: 'haproxy', file: '/usr/sbin/haproxy' },
  java: { package: 'default-jre-headless', file: '/usr/bin/java' },
  javamail: { package: 'libmail-java', file: '/usr/share/java/javax.mail.jar' },
  laravelConfig: { package: 'php-illuminate-config', file: '/usr/share/php/Illuminate/Config/autoload.php' },
  laravelMail: { package: 'php-illuminate-mail', file: '/usr/share/php/Illuminate/Mail/autoload.php' },
  laravelView: { package: 'php-illuminate-view', file: '/usr/share/php/Illuminate/View/autoload.php' },
  liblockfile: { package: 'liblockfile1', file: `${unpackedFolder}/liblockfile1_*.deb`, isUnpacked: true },
  liblockfileBin: { package: 'liblockfile-bin', file: `${unpackedFolder}/liblockfile-bin_*.deb`, isUnpacked: true },
  mailx: { package: 'bsd-mailx', file: `${unpackedFolder}/bsd-mailx_*.deb`, isUnpacked: true },
  msmtp: { package: 'msmtp', file: '/usr/bin/msmtp' },
  nacl: { package: 'python3-nacl', file: `${modules}/nacl/__init__.py` },
  nginx: { package: 'nginx', file: '/usr/sbin/nginx' },
  pebble: { package: 'pebble', file: '/usr/bin/pebble' },
  pgbouncer: { package: 'pgbouncer', file: '/usr/sbin/pgbouncer' },
  php: { package: 'php-cli', file: '/usr/bin/php' },
  phpdotenv: { package: 'php-vlucas-phpdotenv', file: '/usr/share/php/Dotenv/autoload.php' },
  phpunit: { package: 'phpunit', file: '/usr/bin/phpunit' },
  phpmailer: { package: 'libphp-phpmailer', file: '/usr/share/php/libphp-phpmailer/autoload.php' },
  postmarkGem: { package: 'ruby-postmark', file: '/usr/share/rubygems-integration/all/gems/postmark-*/lib/postmark.rb' },
  postgresql: { package: 'postgresql', file: '/usr/lib/postgresql/*/bin/postgres' },
  postfix: { package: 'postfix', file: '/usr/sbin/postfix', alsoNeeds: root },
  prometheus: { package: 'prometheus', file: '/usr/bin/promtool' },
  python: { package: 'python3', file: '/usr/bin/python3' },
  sasl: { package: 'libsasl2-modules', file: '/usr/lib/*/sasl2/libplain.so' },
  spring: { package: 'libspring-context-support-java', file: '/usr/share/java/spring3-context.support.jar' },
  ssleay: { package: 'libnet-ssleay-perl', file: '/usr/lib/*/perl5/*/Net/SSLeay.pm' },
  strace: { package: 'strace', file: '/usr/bin/strace', alsoNeeds: tracing },
  swaks: { package: 'swaks', file: '/usr/bin/swaks' },
  symfonyMailer: { package: 'php-symfony-mailer', file: '/usr/share/php/Symfony/Component/Mailer/autoload.php' },
  systemd: { package: 'systemd', file: '/usr/bin/systemd-analyze' },
  wrk: { package: 'wrk', file: '/usr/bin/wrk' },
  unshare: { package: 'util-linux', file: '/usr/bin/unshare', alsoNeeds: mounting },
} as const satisfies Readonly<Record<string, Peer>>

/** Whether a package is only downloaded. */
export const isUnpacked = (name: string): boolean =>
  Object.values<Peer>(peers).some((peer) => peer.package === name && peer.isUnpacked === true)

export type PeerName = keyof typeof peers

/** Returns the Debian packages that this machine lacks. */
export const missingPackages = (): string[] =>
  Object.values(peers)
    .filter(({ file }) => !isThere(file))
    .map((peer) => peer.package)

/** Returns the missing requirements of the peer; undefined if the machine can run it. */
export function reasonAgainst(name: PeerName): string | undefined {
  const peer: Peer = peers[name]
  if (!isThere(peer.file)) return `the package ${peer.package}`
  return peer.alsoNeeds?.()
}
