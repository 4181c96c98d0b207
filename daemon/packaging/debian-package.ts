/**
 * Creates the Debian package of the single binary: `npm run package:debian`, after `npm run package`. It has a systemd unit with few
 * privileges, a configuration and a separate user. The same commit always creates the same package.
 */
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from './bundle.ts'
import { isRelease, madeOf } from './made-of.ts'
import { run } from './run-command.ts'
import { billFile, billOfMaterials, licenceTexts } from './shipped-packages.ts'
import { binaryOf, type System } from './single-binary.ts'

const architectures: Readonly<Record<System, string>> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }
const sources = join(root, 'daemon/packaging/debian')

export interface PackageOptions {
  readonly system: System
  /** Folder for the package, with its standard file name. */
  readonly into: string
  /** Version of the package. Default: the version of the program. */
  readonly version?: string
  /** Default: as small as Debian's own packages. */
  readonly compression?: 'xz' | 'none'
}

/** Returns the path of the package. The binary for the system must exist. */
export function makeDebianPackage({ system, into, version = versionOf(), compression = 'xz' }: PackageOptions): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-debian-'))
  try {
    chmodSync(folder, 0o755)
    const place = (from: string | Buffer, to: string, mode: number): void => {
      const path = join(folder, to)
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
      if (typeof from === 'string') copyFileSync(from, path)
      else writeFileSync(path, from)
      chmodSync(path, mode)
    }
    place(binaryOf(system), 'usr/bin/postern', 0o755)
    place(join(sources, 'postern.service'), 'lib/systemd/system/postern.service', 0o644)
    place(join(sources, 'postern.json'), 'etc/postern/postern.json', 0o640)
    const shippers = join(root, 'daemon/packaging/log-shippers')
    for (const name of readdirSync(shippers))
      place(join(shippers, name), `usr/share/postern/${name}`, name.endsWith('.ps1') ? 0o644 : 0o755)
    place(join(root, 'LICENSE'), 'usr/share/doc/postern/copyright', 0o644)
    place(gzipSync(readFileSync(join(root, 'CHANGELOG.md')), { level: 9 }), 'usr/share/doc/postern/changelog.gz', 0o644)
    place(gzipSync(licenceTexts(), { level: 9 }), 'usr/share/doc/postern/third-party-licences.gz', 0o644)
    place(Buffer.from(billOfMaterials(madeOf())), `usr/share/doc/postern/${billFile}`, 0o644)
    for (const script of ['preinst', 'postinst', 'prerm', 'postrm']) place(join(sources, script), `DEBIAN/${script}`, 0o755)
    place(Buffer.from('/etc/postern/postern.json\n'), 'DEBIAN/conffiles', 0o644)
    const size = Math.ceil(statSync(binaryOf(system)).size / 1024)
    place(Buffer.from(control({ architecture: architectures[system], version, size })), 'DEBIAN/control', 0o644)
    const file = join(into, `postern_${version}_${architectures[system]}.deb`)
    mkdirSync(into, { recursive: true })
    const seconds = String(Date.parse(madeOf().committedAt) / 1000)
    run('env', `SOURCE_DATE_EPOCH=${seconds}`, 'dpkg-deb', '--root-owner-group', `-Z${compression}`, '--build', folder, file)
    return file
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the version. A build between releases sorts lower than the next release. */
function versionOf(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const { commit, committedAt } = madeOf()
  return isRelease(version) ? version : `${version}~${committedAt.replaceAll(/\D/g, '').slice(0, 14)}.${commit.replace('-', '.')}`
}

const control = ({ architecture, version, size }: { architecture: string; version: string; size: number }): string => `Package: postern
Version: ${version}
Architecture: ${architecture}
Maintainer: The Postern authors <postern@localhost>
Installed-Size: ${String(size)}
Depends: adduser, init-system-helpers, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 5.2)
Section: mail
Priority: optional
Description: mail back office for websites
 A relay that sites, CMS, apps and agents hand mail to by SMTP or REST. It relays
 by the providers of its owner or captures, keeps a trace of every message, and
 takes bounces and complaints back.
`

if (import.meta.main) {
  const [system = 'linux-x64'] = process.argv.slice(2)
  if (!(system in architectures)) throw new Error(`There is no package for ${system}.`)
  const file = makeDebianPackage({ system: system as System, into: join(root, 'build') })
  process.stdout.write(`${join('build', basename(file))} (${(statSync(file).size / 1e6).toFixed(1)} MB)\n`)
}
