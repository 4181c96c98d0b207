/** Installs the Debian packages of the tests, if this process has permission. Starts no service and asks no question. */
import { execFileSync, spawnSync } from 'node:child_process'
import { isUnpacked, unpackedFolder } from './peer-packages.ts'
import { existsSync, readFileSync, rmSync } from 'node:fs'

const policy = '/usr/sbin/policy-rc.d'
const installMinutes = 8

const isRoot = process.getuid?.() === 0

/** Returns the reason as a phrase that follows "as"; undefined if packages can be installed. */
export function whyNotInstallable(): string | undefined {
  if (!isDebian()) return 'this is neither Debian nor Ubuntu'
  if (!isRoot && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return 'that needs root, or sudo without a password'
  return undefined
}

function isDebian(): boolean {
  if (!existsSync('/usr/bin/apt-get') || !existsSync('/etc/os-release')) return false
  return /^(?:ID|ID_LIKE)=.*\b(?:debian|ubuntu)\b/m.test(readFileSync('/etc/os-release', 'utf8'))
}

/** Never throws. Packages that are still missing afterwards could not be installed. */
export function installPackages(packages: readonly string[]): void {
  // The tests start Postfix and Dovecot from separate folders, so the packages must not start theirs.
  const isOurs = !existsSync(policy)
  try {
    if (isOurs) {
      asRoot(['tee', policy], '#!/bin/sh\nexit 101\n')
      asRoot(['chmod', '755', policy])
    }
    asRoot(['debconf-set-selections'], 'postfix postfix/main_mailer_type select No configuration\n')
    aptGet('update')
    const installed = packages.filter((name) => !isUnpacked(name))
    if (installed.length > 0) aptGet('install', '--no-install-recommends', ...installed)
    const unpacked = packages.filter(isUnpacked)
    if (unpacked.length === 0) return
    asRoot(['mkdir', '-p', unpackedFolder])
    asRoot(['sh', '-c', `cd ${unpackedFolder} && apt-get -q download ${unpacked.join(' ')}`])
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
  } finally {
    if (isOurs) rmIfThere()
  }
}

const aptGet = (...args: readonly string[]): void =>
  asRoot([
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    '-q',
    '-y',
    '-o',
    'DPkg::Lock::Timeout=120',
    '-o',
    'Dpkg::Use-Pty=0',
    ...args,
  ])

/** Writes the output to standard error, since standard output belongs to the tests. */
function asRoot(args: readonly string[], input = ''): void {
  const [command = '', ...rest] = isRoot ? args : ['sudo', '-n', ...args]
  execFileSync(command, rest, { input, stdio: ['pipe', args[0] === 'tee' ? 'ignore' : 2, 2], timeout: installMinutes * 60_000 })
}

function rmIfThere(): void {
  if (isRoot) rmSync(policy, { force: true })
  else spawnSync('sudo', ['-n', 'rm', '-f', policy], { stdio: 'ignore' })
}
