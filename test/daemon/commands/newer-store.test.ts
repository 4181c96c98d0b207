/** A store and a backup of a newer release: every command refuses them with a sentence and writes nothing. */
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from '#test'
import { migrations } from '#core/migrations.ts'
import { Change, encode } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { formatKey } from '#store/upgrade/store-form.ts'
import { runCommand } from '../../support/daemon/daemon.ts'
import { masterKey } from '../../support/daemon/start-daemon.ts'
import { assertVerified } from '../../support/problems.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

const kept = new URL('../../fixtures/stores/2026-11-28/store', import.meta.url)

test('newer store: serve, verify and restore refuse it; backup still works', async (t) => {
  await using folder = await temporaryFolder('newer')
  const data = join(folder.path, 'data')
  await cp(kept, join(data, 'store'), { recursive: true })
  const options = { folder: folder.path, env: { POSTERN_MASTER_KEY: masterKey.toString('base64url') } }
  const [ours, newer] = [join(folder.path, 'ours.postern'), join(folder.path, 'newer.postern')]
  t.is((await runCommand(options, 'backup', ours)).code, 0)
  {
    await using kv = await LevelKv.open(join(data, 'store'))
    await new Database(kv).commit(new Change().set(formatKey, encode(migrations.length + 1)))
  }
  const why = `was written by a newer release, in format ${migrations.length + 1}: this one knows formats up to ${migrations.length}.`
  for (const command of ['serve', 'verify']) {
    const { code, output } = await runCommand(options, command)
    t.is(code, 1, command)
    t.true(output.endsWith(`The store ${why} Start that release, or restore a backup made before the upgrade.\n`), output)
  }
  t.is((await runCommand(options, 'backup', newer)).code, 0)
  const into = join(folder.path, 'into')
  const restored = await runCommand(options, 'restore', newer, '--into', into)
  t.is(restored.code, 1)
  t.regex(restored.output, new RegExp(`^The backup \\S{36} ${why.replaceAll('.', '\\.')} Restore it with that release\\.\n$`))
  t.false((await readdir(folder.path)).includes('into'))
  const looked = await runCommand(options, 'verify', newer)
  t.is(looked.code, 1)
  t.regex(looked.output, /complete\nThe backup \S{36} was written by a newer release/)

  t.is((await runCommand(options, 'verify', ours)).code, 0)
  t.is((await runCommand(options, 'restore', ours, '--into', into)).code, 0)
  const whole = await runCommand({ ...options, env: { ...options.env, POSTERN_DATA_DIR: into } }, 'verify')
  assertVerified(t, whole)
  t.regex(whole.output, /^The store has format \d+\. The next start upgrades it to \d+\. Counters can be compared only after that\.$/m)
})
