import test from '#test'
import { WorkTurns } from '#store/daemons/work-turns.ts'

/** Leases of several daemons, and the works of each daemon. */
class Place {
  readonly holders = new Map<string, string>()
  readonly done = new Map<string, Set<string>>()
  readonly turns = new Map<string, WorkTurns>()

  join(id: string, works: readonly string[], moves?: true): void {
    const doing = new Set<string>()
    this.done.set(id, doing)
    const leases = {
      take: async (names: readonly string[]) => names.filter((name) => !this.holders.has(name) && this.holders.set(name, id)),
      giveBack: async (name: string) => void this.holders.delete(name),
    }
    const turns = new WorkTurns(id, leases, (error) => {
      throw error
    })
    for (const name of works) {
      const start = (): void => void doing.add(name)
      turns.add({ name, start, stop: () => void doing.delete(name), ...(moves && { moves }) })
    }
    this.turns.set(id, turns)
  }

  /** Frees the leases of a removed daemon. */
  leave(id: string): void {
    this.turns.delete(id)
    this.done.delete(id)
    for (const [name, holder] of this.holders) if (holder === id) this.holders.delete(name)
  }

  /** Makes all daemons look this number of times. */
  async look(times = 3): Promise<void> {
    for (let i = 0; i < times; i++) {
      for (const turns of this.turns.values()) await turns.look(new Map(this.holders), [...this.turns.keys()])
      await new Promise(setImmediate)
    }
  }

  /** Returns the number of works of each daemon. Fails if two daemons do the same work or a work is missing. */
  counts(works: readonly string[]): number[] {
    const all = [...this.done.values()].flatMap((doing) => [...doing])
    if (all.length !== works.length || new Set(all).size !== works.length) throw new Error(`done: ${all.join()}`)
    return [...this.done.values()].map(({ size }) => size)
  }
}

const parts = Array.from({ length: 32 }, (_, at) => `part ${at}`)

test('work turns: one daemon does each work, and each daemon has a share', async (t) => {
  const place = new Place()
  for (const id of ['a', 'b', 'c']) place.join(id, parts, true)
  await place.look()
  t.true(place.counts(parts).every((count) => count >= 5))
})

test('work turns: only works of a new or departed daemon move', async (t) => {
  const place = new Place()
  for (const id of ['a', 'b']) place.join(id, parts, true)
  await place.look()
  const before = new Map(place.holders)
  place.join('c', parts, true)
  await place.look()
  t.true(place.counts(parts).every((count) => count >= 5))
  const moved = parts.filter((part) => place.holders.get(part) !== before.get(part))
  t.true(moved.length >= 5 && moved.every((part) => place.holders.get(part) === 'c'))
  place.leave('b')
  await place.look()
  t.is(place.counts(parts).length, 2)
})

test('work turns: a work whose stop takes too long starts again at its daemon', async (t) => {
  let now = 0
  const ends: (() => void)[] = []
  const events: string[] = []
  const leases = { take: async (names: readonly string[]) => names, giveBack: async () => void events.push('given back') }
  const turns = new WorkTurns(
    'a',
    leases,
    (error) => t.fail(String(error)),
    () => now,
  )
  const stop = (): Promise<void> => new Promise((resolve) => ends.push(resolve))
  turns.add({ name: 'x', start: () => void events.push('begun'), stop, moves: true })
  const look = async (daemons: readonly string[], at: number): Promise<boolean> => {
    now = at
    await turns.look(new Map(events.length > 0 ? [['x', 'a']] : []), daemons)
    await new Promise(setImmediate)
    return turns.holds('x')
  }
  const other = Array.from({ length: 50 }, (_, i) => `b${i}`) // exactly one should take it
  t.true(await look(['a'], 0))
  t.false(await look(['a', ...other], 1000))
  t.false(await look(['a', ...other], 4000))
  t.true(await look(['a', ...other], 5500))
  t.deepEqual(events, ['begun', 'begun'], 'started again while its stop is in progress')
  ends[0]?.()
  t.true(await look(['a', ...other], 30_000), 'it stays for a while after the first stop has finished')
  t.deepEqual([ends.length, events.length], [1, 2])
  t.false(await look(['a', ...other], 36_000))
  ends[1]?.()
  await new Promise(setImmediate)
  t.is(events.at(-1), 'given back')
})

test('work turns: a fixed work moves only at the end of its daemon', async (t) => {
  const place = new Place()
  const works = ['webhooks', 'retention', 'mailboxes', 'replays', 'removals', 'housekeeping']
  place.join('a', works)
  await place.look()
  place.join('b', works)
  await place.look()
  t.deepEqual(place.counts(works), [6, 0])
  place.leave('a')
  await place.look()
  t.deepEqual(place.counts(works), [6])
})

test('work turns: another daemon takes a work that its daemon does not take', async (t) => {
  const place = new Place()
  place.join('a', parts, true)
  const ids = ['a', 'away']
  const [turns] = place.turns.values()
  for (let i = 0; i < 3; i++) await turns?.look(new Map(place.holders), ids)
  t.true((place.done.get('a')?.size ?? 0) < parts.length)
  for (let i = 0; i < 3; i++) await turns?.look(new Map(place.holders), ids)
  t.is(place.done.get('a')?.size, parts.length)
})

test('work turns: the next look finds a lease whose response was lost', async (t) => {
  let starts = 0
  const leases = { take: async () => Promise.reject(new Error('the connection was lost')), giveBack: async () => undefined }
  const turns = new WorkTurns('a', leases, () => undefined)
  turns.add({ name: 'x', start: () => void starts++, stop: () => {} })
  await t.throwsAsync(turns.look(new Map(), ['a']))
  t.false(turns.holds('x'))
  await turns.look(new Map([['x', 'a']]), ['a'])
  t.true(turns.holds('x'))
  await new Promise(setImmediate)
  t.is(starts, 1)
})

test('leave(): stops a work, even if it never started, then frees its lease', async (t) => {
  const place = new Place()
  place.join('a', ['w'])
  await place.look()
  const ends = Promise.withResolvers<void>()
  const events: string[] = []
  const leases = { take: async (names: readonly string[]) => names, giveBack: async () => void events.push('given back') }
  const turns = new WorkTurns('b', leases, () => undefined)
  turns.add({ name: 'x', start: () => {}, stop: () => ends.promise.then(() => void events.push('ended')) })
  turns.add({ name: 'y', start: () => {}, stop: () => void events.push('stopped without a start') })
  await turns.look(new Map([['y', 'a']]), ['b'])
  t.true(turns.holds('x'))
  const leaving = turns.leave('x')
  await new Promise(setImmediate)
  t.false(turns.holds('x'))
  await turns.leave('y')
  t.deepEqual(events, ['stopped without a start'])
  ends.resolve()
  await leaving
  t.deepEqual(events, ['stopped without a start', 'ended', 'given back'])
})
