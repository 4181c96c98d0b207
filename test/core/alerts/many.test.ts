/** Many findings at once, such as three of each domain while a zone is gone: bounded work, and a mark for each finding. */
import test from '#test'
import { dueChannels } from '#core/alerts/channel-state.ts'
import { observed, type Observed } from '#core/findings/finding.ts'
import { transact } from '#core/writes/transact.ts'
import { keyName } from '#store/tuple.ts'
import { receiverOf } from '../../support/web/webhook-receiver.ts'
import { organizationId, projectId } from '../core-fixture.ts'
import { alertsFixture, minute, refused, second, type AlertsFixture } from './alerts-fixture.ts'

const manyOf = (count: number): readonly Observed[] =>
  Array.from({ length: count }, (_, i) => observed('domain.dkim', `d${i}.example`, { domain: `d${i}.example` }, projectId))

interface Work {
  /** Number of reads of channels and of their states. */
  readonly channelReads: number
  /** Numbers of rows set by each write. */
  readonly rows: readonly number[]
}

/** Counts the work for the store during one look. */
async function workOf(setup: AlertsFixture, found: readonly Observed[]): Promise<Work> {
  const { kv } = setup.fixture
  let channelReads = 0
  const rows: number[] = []
  kv.onLook = (keys) => {
    for (const key of keys) if (/alert(_channel|\.state)/.test(keyName(key))) channelReads++
  }
  kv.beforeWrite = ({ sets }) => void rows.push(sets.length)
  await setup.look(...found)
  kv.onLook = undefined
  kv.beforeWrite = undefined
  return { channelReads, rows }
}

test('many findings of one look: each write of 200 findings reads the channels once', async (t) => {
  const setup = await alertsFixture(t)
  const receiver = await receiverOf(t)
  for (let i = 0; i < 19; i++) await setup.channel({ kind: 'slack', target: { url: `${receiver.url}/secret${i}` } })
  await setup.pass(2 * minute)
  const one = await workOf(setup, manyOf(1))
  await setup.look()
  const [few, many] = [await workOf(setup, manyOf(200)), await workOf(setup, manyOf(1000))]
  t.is(few.channelReads, one.channelReads)
  t.is(many.channelReads, 4 * one.channelReads, 'the first 200 findings stay')
  t.deepEqual([one.rows.length, few.rows.length, many.rows.length], [1, 1, 4])
  const rowsOfFinding = (few.rows[0]! - one.rows[0]!) / 199
  t.true(rowsOfFinding < 6, `${rowsOfFinding} rows for each further finding`)
})

test('several findings of one write set the next look of a channel once, at the earliest time', async (t) => {
  const setup = await alertsFixture(t)
  const { database, clock } = setup.fixture
  await setup.look(observed('domain.spf', 'old.example', {}, projectId)) // a warning: looks in 5 minutes
  const looks = async () => (await dueChannels(database, clock.now() + 60 * minute, 10)).map(({ channelId, dueMs }) => [channelId, dueMs])
  t.deepEqual(await looks(), [['members', clock.now() + 5 * minute]])
  const written: number[] = []
  setup.fixture.kv.beforeWrite = ({ sets }) => void written.push(sets.filter(({ key }) => /alert\.(state|due)/.test(keyName(key))).length)
  await transact(database, { organizationId }, async (change) => {
    for (const one of [
      observed('domain.spf', 'new.example', {}, projectId),
      refused,
      observed('domain.spf', 'newest.example', {}, projectId),
    ])
      await setup.settle.observe(change, organizationId, one)
  })
  setup.fixture.kv.beforeWrite = undefined
  t.deepEqual(written, [2], 'the state and its due row')
  t.deepEqual(await looks(), [['members', clock.now() + 40 * second]])
  await setup.fixture.assertSound(t)
})

test('1,200 findings: one message counts all of them, and one reports all ends', async (t) => {
  const setup = await alertsFixture(t, { hasMail: false, hasOwner: false })
  const receiver = await receiverOf(t)
  const { id } = await setup.channel({ kind: 'slack', target: { url: `${receiver.url}/secretpath` } })
  await setup.pass(2 * minute)
  const before = receiver.received.length
  await setup.look(...manyOf(1200))
  await setup.pass(5 * minute, minute)
  const marks = async () => (await setup.findings()).flatMap(({ kind, notified }) => (kind === 'domain.dkim' ? [notified[id]] : []))
  t.is((await marks()).filter((mark) => mark !== undefined).length, 1200)
  await setup.look()
  await setup.pass(11 * minute, minute)
  const subjects = receiver.received.slice(before).map(({ body }) => /and [\d,]+ more/.exec(body)?.[0])
  t.deepEqual(subjects, ['and 1,199 more', 'and 1,199 more'])
  t.is((await marks()).filter((mark) => mark?.overAt !== undefined).length, 1200)
})
