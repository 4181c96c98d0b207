/** Rate windows of a key compared with a naive model, and across two processes. */
import { join } from 'node:path'
import test from '#test'
import { KeyWindows } from '#core/publishable/key-windows.ts'
import type { PublishableKey } from '#core/publishable/publishable-key.ts'
import { Refusal } from '#core/refusals.ts'
import { countInGroup } from '#core/visitors/stored-windows.ts'
import { Change } from '#store/change.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { Seeded } from '../../support/seeded.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { storeOf } from '../../store/level/folders.ts'

const hour = 3_600_000
const minute = 60_000
const unlimited = { perIpHour: 0, perRecipientHour: 0, perKeyHour: 0, perKeyDay: 0 }
const keyWith = (rates: PublishableKey['rates']): PublishableKey => ({
  ...{ id: 'pk_1', name: '', projectId: 'prj_1', tokenId: 't', preview: '', allowedOrigins: [], allowedTo: [], lockedFrom: '' },
  ...{ ratePreset: 'normal', rates: { ...unlimited, ...rates }, captcha: null, createdAt: 0, updatedAt: 0, revokedAt: null },
})

/** The windows of a store, at a time set by the test. */
function windowsOf(database: Database) {
  const time = { nowMs: 1_900_000_000_000 }
  const windows = new KeyWindows({ database, clock: { now: () => time.nowMs } })
  const counted = { remoteAddress: '192.0.2.1', recipients: ['a@b.ch'] }
  /** Returns whether a send is accepted. It is stored when `written` resolves. */
  const take = async (key: PublishableKey, written: Promise<unknown> = Promise.resolve()): Promise<boolean> => {
    try {
      return await windows.during('org_1', key, counted, async (open) => {
        await written
        const change = new Change()
        for (const window of open) countInGroup(change.add(window.key, 1, window.most), window)
        return (await database.commit(change)).ok
      })
    } catch {
      return false
    }
  }
  return { time, take, windows, counted }
}

for (const [rate, length, slice] of [
  ['perIpHour', hour, minute],
  ['perRecipientHour', hour, minute],
  ['perKeyHour', hour, minute],
  ['perKeyDay', 24 * hour, 15 * minute],
] as const)
  test(`${rate}: exact limit for any period; a send counts at most ${slice / minute} minutes longer`, async (t) => {
    const { kv } = await storeOf(t)
    const { time, take } = windowsOf(new Database(kv))
    const seeded = new Seeded(7)
    const taken: number[] = []
    const key = keyWith({ [rate]: 5 })
    for (let i = 0; i < 300; i++) {
      const now = (time.nowMs += Math.floor(seeded.fraction() * (length / 4)))
      const isTaken = await take(key)
      const strict = taken.filter((at) => at > now - length).length
      const lax = taken.filter((at) => at > now - length - slice).length
      if (isTaken) t.true(strict < 5, `send ${i}`)
      else t.true(lax >= 5, `send ${i}`)
      if (isTaken) taken.push(now)
    }
    t.true(taken.length > 50 && taken.length < 300, String(taken.length))
  })

test('key windows: a restart keeps all counts', async (t) => {
  await using folder = await temporaryFolder('windows')
  const path = join(folder.path, 'store')
  const key = keyWith({ perKeyHour: 3 })
  const life = async (sends: number): Promise<number> => {
    await using kv = await LevelKv.open(path)
    const { take } = windowsOf(new Database(kv))
    const answers = await Promise.all(Array.from({ length: sends }, () => take(key)))
    return answers.filter(Boolean).length
  }
  t.deepEqual([await life(2), await life(5), await life(5)], [2, 1, 0])
})

test('key windows: only one send gets the last place, also at the end of a slice', async (t) => {
  const { kv } = await storeOf(t)
  const { time, take } = windowsOf(new Database(kv))
  const key = keyWith({ perKeyHour: 1 })
  const written = Promise.withResolvers<void>()
  const first = take(key, written.promise)
  time.nowMs += minute
  const second = take(key)
  const ofOther = take({ ...key, id: 'pk_2' })
  t.true(await ofOther, 'other keys do not wait')
  written.resolve()
  t.deepEqual(await Promise.all([first, second]), [true, false])
})

test('key windows: a send waits for an earlier one, and is admitted if that fails', async (t) => {
  const { kv } = await storeOf(t)
  const { time, take } = windowsOf(new Database(kv))
  const key = keyWith({ perKeyHour: 1 })
  const broken = Promise.withResolvers<void>()
  const first = take(key, broken.promise)
  time.nowMs += minute
  const second = take(key)
  broken.reject(new Error('the client has gone'))
  t.deepEqual(await Promise.all([first, second]), [false, true])
})

test('key windows: Retry-After is the longest wait of all full windows', async (t) => {
  const { kv } = await storeOf(t)
  const { time, take, windows, counted } = windowsOf(new Database(kv))
  const key = keyWith({ perIpHour: 1, perKeyDay: 1 })
  t.true(await take(key))
  const refused = await t.throwsAsync(windows.check('org_1', key, counted), { instanceOf: Refusal })
  t.regex(refused?.message ?? '', /1 sends per day/)
  t.is(refused?.code, 'quota_exhausted')
  t.true((refused?.retryAfterSeconds ?? 0) <= 24 * 3600 + 15 * 60)
  time.nowMs += (refused?.retryAfterSeconds ?? 0) * 1000
  t.true(await take(key))
})
