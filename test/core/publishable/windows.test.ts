/** The windows of a key against a naive model, and over the life of two processes. */
import { join } from 'node:path'
import test from 'ava'
import { openWindows } from '#core/publishable/windows.ts'
import type { PublishableKey } from '#core/publishable/publishable-key.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { Seeded } from '../../support/seeded.ts'
import { temporaryFolder } from '../../support/workspace.ts'

const hour = 3_600_000
const unlimited = { perIpHour: 0, perRecipientHour: 0, perKeyHour: 0, perKeyDay: 0 }
const keyWith = (rates: PublishableKey['rates']): PublishableKey => ({
  ...{ id: 'pk_1', name: '', projectId: 'prj_1', tokenId: 't', preview: '', allowedOrigins: [], allowedTo: [], lockedFrom: '' },
  ...{ ratePreset: 'normal', rates: { ...unlimited, ...rates }, captcha: null, createdAt: 0, updatedAt: 0, revokedAt: null },
})

/** Whether a send at this time is taken. */
async function take(database: Database, key: PublishableKey, nowMs: number): Promise<boolean> {
  try {
    const change = new Change()
    const counted = { remoteAddress: '192.0.2.1', recipients: ['a@b.ch'] }
    for (const window of await openWindows(database, 'org_1', key, counted, nowMs)) change.add(window.key, 1, window.most)
    return (await database.commit(change)).ok
  } catch {
    return false
  }
}

for (const [rate, length, slice] of [
  ['perIpHour', hour, hour / 12],
  ['perRecipientHour', hour, hour / 12],
  ['perKeyHour', hour, hour / 12],
  ['perKeyDay', 24 * hour, hour],
] as const)
  test(`${rate}: no stretch of its length sees more, and a slice later there is room again`, async (t) => {
    await using folder = await temporaryFolder('windows')
    await using kv = await LevelKv.open(join(folder.path, 'store'))
    const database = new Database(kv)
    const seeded = new Seeded(7)
    const taken: number[] = []
    const key = keyWith({ [rate]: 5 })
    let now = 1_900_000_000_000
    for (let i = 0; i < 300; i++) {
      now += Math.floor(seeded.fraction() * (length / 4))
      const isTaken = await take(database, key, now)
      const strict = taken.filter((at) => at > now - length).length
      const lax = taken.filter((at) => at > now - length - slice).length
      if (isTaken) t.true(strict < 5, `send ${i}`)
      else t.true(lax >= 5, `send ${i}`)
      if (isTaken) taken.push(now)
    }
    t.true(taken.length > 50 && taken.length < 300, String(taken.length))
  })

test('a restart forgets nothing', async (t) => {
  await using folder = await temporaryFolder('windows')
  const path = join(folder.path, 'store')
  const key = keyWith({ perKeyHour: 3 })
  const now = 1_900_000_000_000
  const life = async (sends: number): Promise<number> => {
    await using kv = await LevelKv.open(path)
    const database = new Database(kv)
    const answers = await Promise.all(Array.from({ length: sends }, () => take(database, key, now)))
    return answers.filter(Boolean).length
  }
  t.deepEqual([await life(2), await life(5), await life(5)], [2, 1, 0])
})
