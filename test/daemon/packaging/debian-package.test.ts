/**
 * The Debian package in a system of its own: an overlay of this one, in which dpkg installs, upgrades, removes and purges, and in which
 * nothing of this one is touched.
 */
import { spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDebianPackage } from '../../../daemon/packaging/debian-package.ts'
import { makeBinary } from '../../../daemon/packaging/single-binary.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { testWith } from '../../support/peers/peers.ts'

const here = import.meta.dirname
/** As `systemd-analyze security` counts, from 0 to 10. */
const mostExposed = 2.5

testWith('unshare')('the package is installed, upgraded, removed and purged, and mail stays through all of it', async (t) => {
  await using folder = await temporaryFolder('debian')
  await makeBinary('linux-x64')
  const packages = join(folder.path, 'packages')
  for (const version of ['1.0', '1.1']) makeDebianPackage({ system: 'linux-x64', into: packages, version, compression: 'none' })
  await mkdir(join(folder.path, 'system'))
  const walk = spawnSync('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', join(here, 'debian-walk.sh'), folder.path], {
    encoding: 'utf8',
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_'))), // which are settings
  })
  t.is(walk.status, 0, `${walk.stdout}\n${walk.stderr}`)
  t.true(walk.stdout.includes('installed: postern postern 700 root postern 640\n'), walk.stdout)
  t.deepEqual(walk.stdout.match(/^enabled .*$/gm), ['enabled installed', 'enabled after a removal'])
  t.regex(
    walk.stdout,
    /^asked: .*\bstop postern\.service\n(?:asked: .*\n)*asked: .*\brestart postern\.service$/m,
    'a removal stops it, and the next installation starts it',
  )
  t.deepEqual(
    walk.stdout.match(/strangers: \d+/g),
    ['strangers: 0', 'strangers: 0'],
    'what root looks at, backs up and restores is the service’s',
  )
  t.regex(walk.stdout, /Restored the backup of /)
  const [, uid = '', gid = ''] = /^user: (\d+) (\d+)$/m.exec(walk.stdout) ?? []
  const [, threads = ''] = /^threads: (.*)$/m.exec(walk.stdout) ?? []
  const [user, group] = [uid, gid].map((id) => Array.from({ length: 4 }, () => id).join(' '))
  t.is(
    threads,
    `CapEff: 0000000000000000;Gid: ${String(group)};Groups: ${gid};Uid: ${String(user)};`,
    'all threads, and nothing is left of root',
  )
  t.true(walk.stdout.includes('greeted: 220\n'), walk.stdout)
  t.regex(
    walk.stdout,
    /^refused: \/var\/lib\/other does not belong to postern \(POSTERN_USER\); run chown -R postern: \/var\/lib\/other\.$/m,
  )
  t.true(walk.stdout.includes('bill of materials: CycloneDX\n'), walk.stdout)
  t.true(walk.stdout.includes('upgraded: 1.1 1\n'), 'with the settings of the administrator')
  t.regex(walk.stdout, /The mail, traces and settings of Postern stay in \/var\/lib\/postern/)
  t.regex(walk.stdout, /kept: 1 contents.*all agree\n/)
})

testWith('systemd')('the service may do little', (t) => {
  const unit = join(here, '../../../daemon/packaging/debian/postern.service')
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unit], { encoding: 'utf8' })
  const [, exposure = ''] = /Overall exposure level for postern\.service: ([\d.]+)/.exec(stdout) ?? []
  t.true(exposure !== '' && Number(exposure) <= mostExposed, stdout)
})
