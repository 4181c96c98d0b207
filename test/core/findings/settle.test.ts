/** Findings open, change and end with the looks of checks, on a real store. */
import test from '#test'
import { findings, observed, openKey, type Finding, type Observed } from '#core/findings/finding.ts'
import { Settle, type SettleOptions } from '#core/findings/settle.ts'
import { transact } from '#core/writes/transact.ts'
import { decode } from '#store/change.ts'
import { unpack, within } from '#store/tuple.ts'
import { column } from '../../support/column.ts'
import { coreFixture, organizationId, projectId, type CoreFixture } from '../core-fixture.ts'

type Test = Parameters<typeof coreFixture>[0]
const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const parked = (count: number): Observed => observed('webhook.parked', 'whk_1', { count }, projectId)
const bounced = observed('mail.bounced', projectId, { count: 5 }, projectId)

class Place {
  readonly fixture: CoreFixture
  readonly settle: Settle

  constructor(fixture: CoreFixture, more: Partial<SettleOptions> = {}) {
    this.fixture = fixture
    this.settle = new Settle({ database: fixture.database, clock: fixture.clock, ...more })
  }

  look(...found: readonly Observed[]): Promise<boolean> {
    return this.settle.settle({ organizationId, check: 'webhooks', observed: found })
  }

  async all(): Promise<Finding[]> {
    return column(await this.fixture.database.all(findings, { organizationId }), 'record')
  }

  /** Kinds in the rows over all organizations. */
  async openRows(): Promise<unknown[]> {
    const rows: unknown[] = []
    for await (const { key, value } of this.fixture.kv.range(within(openKey())))
      rows.push([...unpack(key).slice(2, 4), decode<{ kind: string }>(value).kind])
    return rows
  }
}

const place = async (t: Test, more?: Partial<SettleOptions>): Promise<Place> => new Place(await coreFixture(t), more)

test('a finding opens, keeps its figures for an hour, and ends with the first look without it', async (t) => {
  const here = await place(t)
  const { clock } = here.fixture
  t.true(await here.look(parked(3)))
  t.deepEqual(await here.openRows(), [[0, organizationId, 'webhook.parked']])
  const [first] = await here.all()
  clock.advance(59 * minute)
  await here.look(parked(4))
  t.deepEqual(await here.all(), [first], 'figures alone are stored once an hour')
  clock.advance(minute)
  await here.look(parked(4))
  const [changed] = await here.all()
  t.deepEqual([changed?.id, changed?.params, changed?.changedAt], [first?.id, { count: 4 }, clock.now()])
  t.false(await here.look())
  const [over] = await here.all()
  t.deepEqual([over?.state, over?.overAt, await here.openRows()], ['over', clock.now(), []])
})

test('a look that finds what is stored writes nothing', async (t) => {
  const here = await place(t)
  const { database } = here.fixture
  await here.look(parked(3), bounced)
  const before = database.commits
  await here.look(parked(3), bounced)
  await here.settle.settle({ organizationId, check: 'sources', observed: [] })
  t.is(database.commits, before)
})

test('a finding that comes back within an hour is the same one; later it is a new one', async (t) => {
  const here = await place(t)
  const { clock } = here.fixture
  await here.look(parked(3))
  const [first] = await here.all()
  await here.look()
  clock.advance(hour - 1)
  await here.look(parked(5))
  const [same] = await here.all()
  t.deepEqual([same?.id, same?.openedAt, same?.overAt, same?.params], [first?.id, first?.openedAt, null, { count: 5 }])
  await here.look()
  clock.advance(hour)
  await here.look(parked(6))
  const all = await here.all()
  t.is(all.length, 1)
  t.not(all[0]?.id, first?.id)
  t.deepEqual([all[0]?.openedAt, all[0]?.state], [clock.now(), 'open'])
})

test('a finding of rates ends after two looks without it, five minutes apart', async (t) => {
  const here = await place(t)
  const { clock } = here.fixture
  const state = async (): Promise<unknown> => (await here.all())[0]?.state
  await here.look(bounced)
  await here.look()
  clock.advance(4 * minute)
  await here.look()
  t.is(await state(), 'open')
  await here.look(bounced)
  clock.advance(minute)
  await here.look()
  t.is(await state(), 'open', 'the time begins again after a look with it')
  clock.advance(5 * minute)
  await here.look()
  t.is(await state(), 'over')
})

test('a finding from the memory of a daemon is ended by this daemon, and by another only after it has left', async (t) => {
  const running = new Set(['one'])
  const here = await place(t, { isRunning: (daemon) => running.has(daemon) })
  const resting = observed('destination.resting', 'dst_1', {}, projectId)
  const lookOf = (daemon: string, ...found: Observed[]) =>
    here.settle.settle({ organizationId, check: 'breakers', daemon, observed: found })
  await lookOf('one', resting)
  t.true(await lookOf('two'))
  running.clear()
  t.false(await lookOf('two'))
})

test('a finding of a daemon that restarted stays, and only the new process and later ones end it', async (t) => {
  const running = new Set(['first'])
  const changes: unknown[] = []
  const here = await place(t, {
    isRunning: (daemon) => running.has(daemon),
    onChanged: (_, __, changed) => void changes.push(...changed.map(({ finding: { kind, state } }) => [kind, state])),
  })
  const full = observed('disk.low', 'relay-1 /data', {})
  const lookOf = (daemon: string, ...found: Observed[]) => here.settle.settle({ organizationId, check: 'process', daemon, observed: found })
  await lookOf('first', full)
  const [before] = await here.all()
  here.fixture.clock.advance(minute)
  running.delete('first')
  running.add('second').add('other')
  await lookOf('second', full)
  t.deepEqual(await here.all(), [{ ...before, daemon: 'second' }])
  t.true(await lookOf('other'), 'the new process runs')
  t.deepEqual(changes, [['disk.low', 'open']], 'the restart is no change for alerts')
  running.delete('second')
  t.false(await lookOf('other'))
  t.like((await here.all())[0], { id: before?.id, state: 'over' })
})

test('two running daemons with the same finding do not replace each other, also when its figures change', async (t) => {
  const running = new Set(['one', 'two'])
  const here = await place(t, { isRunning: (daemon) => running.has(daemon) })
  const { database, clock } = here.fixture
  const full = (freeMib: number): Observed => observed('disk.low', 'relay /data', { freeMib })
  const lookOf = (daemon: string, ...found: Observed[]) => here.settle.settle({ organizationId, check: 'process', daemon, observed: found })
  await lookOf('one', full(3))
  const before = database.commits
  for (const daemon of ['two', 'one', 'two', 'one']) await lookOf(daemon, full(3))
  t.is(database.commits, before)
  clock.advance(hour)
  await lookOf('two', full(2))
  t.like((await here.all())[0], { daemon: 'one', params: { freeMib: 2 } })
  await lookOf('one')
  await lookOf('two', full(2))
  t.like((await here.all())[0], { daemon: 'two', state: 'open' })
  t.true(await lookOf('one'), 'the other daemon still finds it')
})

test('a change of severity moves the row over all organizations', async (t) => {
  const here = await place(t)
  await here.look(bounced)
  await here.look({ ...bounced, severity: 'error' })
  t.deepEqual(await here.openRows(), [[0, organizationId, 'mail.bounced']])
})

test('a write opens and ends a finding with its cause; a consequence of each change is in the same write', async (t) => {
  const changes: unknown[] = []
  const here = await place(t, {
    onChanged: (_, __, changed) => void changes.push(...changed.map(({ finding, before }) => [finding.kind, finding.state, before?.state])),
  })
  const { database } = here.fixture
  const failing = observed('form.notification_failing', 'frm_1', {}, projectId)
  await transact(database, { organizationId }, (change) => here.settle.observe(change, organizationId, failing))
  await transact(database, { organizationId }, (change) => here.settle.end(change, organizationId, failing))
  await transact(database, { organizationId }, (change) => here.settle.end(change, organizationId, failing))
  t.deepEqual(changes, [
    ['form.notification_failing', 'open', undefined],
    ['form.notification_failing', 'over', 'open'],
  ])
})

test('a look with many findings that is cut off: the next look writes the others, and ends all', async (t) => {
  const told: string[] = []
  const here = await place(t, { onChanged: (_, __, changed) => void told.push(...changed.map(({ finding }) => finding.id)) })
  const { kv } = here.fixture
  const many = Array.from({ length: 450 }, (_, i) => observed('webhook.parked', `whk_${i}`, {}, projectId))
  let writes = 0
  kv.beforeWrite = () => {
    writes++
    return writes === 2 ? Promise.reject(new Error('cut off')) : undefined
  }
  await t.throwsAsync(here.look(...many), { message: 'cut off' })
  t.is((await here.all()).length, 200)
  told.length = 0
  t.true(await here.look(...many))
  t.deepEqual([(await here.all()).length, told.length, new Set(told).size], [450, 250, 250])
  writes = 2
  t.false(await here.look())
  t.deepEqual([writes - 2, await here.openRows()], [3, []])
  t.true((await here.all()).every(({ state }) => state === 'over'))
})

test('a finding is removed 30 days after it ended, and not if it came back', async (t) => {
  const here = await place(t)
  const { clock } = here.fixture
  await here.look(parked(1), observed('webhook.failing', 'whk_2', {}, projectId))
  await here.look()
  clock.advance(30 * day - 1)
  t.false(await here.settle.removeEnded(10))
  t.is((await here.all()).length, 2)
  await here.look(parked(2))
  clock.advance(1)
  t.true(await here.settle.removeEnded(1))
  t.false(await here.settle.removeEnded(1))
  t.deepEqual(column(await here.all(), 'kind'), ['webhook.parked'])
})
