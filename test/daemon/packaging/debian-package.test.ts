/** The Debian package in an overlay of this system: dpkg installs, upgrades, removes and purges it without changes to this system. */
import { spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDebianPackage } from '../../../daemon/packaging/debian-package.ts'
import { makeBinary } from '../../../daemon/packaging/single-binary.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { testWith } from '../../support/peers/peers.ts'

const here = import.meta.dirname
/** On the scale of `systemd-analyze security`, from 0 to 10. */
const mostExposed = 2.5

testWith('unshare')('Debian package: install, upgrade, removal and purge keep the mail', async (t) => {
  await using folder = await temporaryFolder('debian')
  await makeBinary('linux-x64')
  const packages = join(folder.path, 'packages')
  for (const version of ['1.0', '1.1']) makeDebianPackage({ system: 'linux-x64', into: packages, version, compression: 'none' })
  await mkdir(join(folder.path, 'system'))
  const walk = spawnSync('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', join(here, 'debian-walk.sh'), folder.path], {
    encoding: 'utf8',
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_'))), // these variables are settings
  })
  t.is(walk.status, 0, `${walk.stdout}\n${walk.stderr}`)
  t.true(walk.stdout.includes('installed: postern postern 700 root postern 640\n'), walk.stdout)
  t.deepEqual(walk.stdout.match(/^enabled .*$/gm), ['enabled installed', 'enabled after a removal'])
  t.regex(
    walk.stdout,
    /^asked: .*\bstop postern\.service\n(?:asked: .*\n)*asked: .*\brestart postern\.service$/m,
    'a removal stops the service, and the next installation starts it',
  )
  t.deepEqual(walk.stdout.match(/strangers: \d+/g), ['strangers: 0', 'strangers: 0'], 'files of commands run by root belong to the service')
  t.regex(walk.stdout, /Restored the backup of /)
  const [, uid = '', gid = ''] = /^user: (\d+) (\d+)$/m.exec(walk.stdout) ?? []
  const [, threads = ''] = /^threads: (.*)$/m.exec(walk.stdout) ?? []
  const [user, group] = [uid, gid].map((id) => Array.from({ length: 4 }, () => id).join(' '))
  t.is(
    threads,
    `CapEff: 0000000000000000;Gid: ${String(group)};Groups: ${gid};Uid: ${String(user)};`,
    'all threads, and no right of root is left',
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

testWith('systemd')('the service has few permissions', (t) => {
  const unit = join(here, '../../../daemon/packaging/debian/postern.service')
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unit], { encoding: 'utf8' })
  const [, exposure = ''] = /Overall exposure level for postern\.service: ([\d.]+)/.exec(stdout) ?? []
  t.true(exposure !== '' && Number(exposure) <= mostExposed, stdout)
})
