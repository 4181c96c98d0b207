/** The suppression list at send and before every attempt, and the effect of new entries. */
import test from '#test'
import { addSuppressions } from '#core/feedback/suppression/add-suppressions.ts'
import { suppressions } from '#core/feedback/suppression/suppression.ts'
import { type NewSuppression } from '#core/feedback/suppression/suppressions.ts'
import type { Trace } from '#core/trace/trace.ts'
import { invalid } from '#core/refusals.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { coreFixture, organizationId, principal, type CoreFixture, relaying } from '../core-fixture.ts'
import { report, take } from '../scripted-transport.ts'

const hour = 3_600_000
const three = ['anna@example.net', 'ben@example.net', 'carl@example.net']

const add = async (fixture: CoreFixture, email: string, more: Partial<NewSuppression> = {}) =>
  (await fixture.core.suppressions.add(principal, { email, ...more })).suppression
const fates = ({ recipients }: Trace): string[] => recipients.map(({ address, status }) => `${address} ${status}`)

test('a message to suppressed recipients only is stored as suppressed, with the reason', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const entry = await add(fixture, 'Anna@Example.NET', { reason: 'asked on the telephone' })
  const { traceId, status, outcome, repeated } = await fixture.submit({ rcptTo: ['aNNa@example.net'] })
  t.deepEqual({ status, outcome, repeated }, { status: 'suppressed', outcome: 'relayed', repeated: false })
  await fixture.settled()
  const trace = await fixture.trace(traceId)
  t.like(trace, { status: 'suppressed', attempts: 0, nextAttemptAt: null })
  t.deepEqual(trace.recipients[0]?.suppression, {
    id: entry.id,
    projectId: null,
    source: 'manual',
    reason: 'asked on the telephone',
    at: startOfTime,
  })
  t.deepEqual(await fixture.details(traceId), [
    'accepted: Accepted by the REST API: 22 bytes for 1 recipient.',
    'routed: Rule any (priority 10) selects the destination Provider.',
    'suppressed: The message is not sent to 1 of 1 recipient: suppressed.',
  ])
  t.deepEqual([fixture.transport.calls.length, fixture.queued.length, await fixture.queueLength()], [0, 0, 0])
})

test('only suppressed recipients are withheld; each recipient has its own state', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  await add(fixture, 'ben@example.net')
  const { traceId, status } = await fixture.submit({ rcptTo: three })
  t.is(status, undefined)
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  t.deepEqual(fixture.transport.calls[0]?.job.rcptTo, ['anna@example.net', 'carl@example.net'])
  const trace = await fixture.trace(traceId)
  t.is(trace.status, 'suppressed', 'the status of the worst recipient')
  t.deepEqual(fates(trace), ['anna@example.net sent', 'ben@example.net suppressed', 'carl@example.net sent'])
  t.deepEqual((await fixture.details(traceId)).slice(2), [
    'queued: The destination Provider is live.',
    'suppressed: The message is not sent to 1 of 3 recipients: suppressed.',
    'attempt: Attempt 1 to smtp.provider.test:587 took 0 ms: 2 accepted.',
    'partly_sent: The provider accepted the message for 2 of 3 recipients; the others are suppressed.',
  ])
})

test('a recipient suppressed before a retry is not attempted again', async (t) => {
  const fixture = await relaying(t, (call) => report(call, { 'ben@example.net': 'transient', 'carl@example.net': 'transient' }))
  const { traceId } = await fixture.submit({ rcptTo: three })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first attempt')
  const { id } = await add(fixture, 'ben@example.net', { reason: 'no' })
  await fixture.settled()
  fixture.clock.advance(hour)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'second attempt')
  t.deepEqual(fixture.transport.calls[1]?.job.rcptTo, ['carl@example.net'])
  await add(fixture, 'carl@example.net')
  await fixture.settled()
  fixture.clock.advance(hour)
  await fixture.settled()
  t.is(await fixture.queueLength(), 0, 'done')
  const trace = await fixture.trace(traceId)
  t.is(fixture.transport.calls.length, 2)
  t.like(trace, { status: 'suppressed', nextAttemptAt: null, attempts: 2 })
  t.deepEqual(fates(trace), ['anna@example.net sent', 'ben@example.net suppressed', 'carl@example.net suppressed'])
  t.like(trace.recipients[1]?.suppression, { id, reason: 'no' })
  const events = (await fixture.details(traceId)).map((line) => line.split(':')[0])
  t.deepEqual(events.slice(3), ['attempt', 'retry_scheduled', 'suppressed', 'attempt', 'retry_scheduled', 'suppressed', 'partly_sent'])
  await fixture.assertSound(t)
})

test('a failed message lists its suppressed recipients separately', async (t) => {
  const fixture = await relaying(t, (call) => report(call, 'permanent'))
  await add(fixture, 'ben@example.net')
  const { traceId } = await fixture.submit({ rcptTo: three.slice(0, 2) })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'failed')
  t.is((await fixture.trace(traceId)).status, 'failed')
  t.is((await fixture.details(traceId)).at(-2), 'failed: Delivery was abandoned for all recipients that are not suppressed.')
})

test('captures stay captures with suppressed recipients', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  await fixture.inbox()
  await fixture.destination({ mode: 'sandbox' })
  await add(fixture, 'anna@example.net')
  const { traceId, status, outcome } = await fixture.submit()
  t.deepEqual({ status, outcome }, { status: undefined, outcome: 'captured.sandbox_destination' })
  t.deepEqual(fates(await fixture.trace(traceId)), ['anna@example.net captured'])
})

test('an expired entry has no effect, and a new one replaces it', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const old = await add(fixture, 'anna@example.net', { expiresAt: startOfTime + hour, reason: 'old' })
  t.is((await fixture.submit()).status, 'suppressed')
  fixture.clock.advance(hour)
  t.is((await fixture.submit()).status, undefined)
  const fresh = await add(fixture, 'anna@example.net', { reason: 'new' })
  t.not(fresh.id, old.id)
  t.is((await fixture.submit()).status, 'suppressed')
  const { rows } = await fixture.core.suppressions.list(principal, { limit: 10 })
  t.deepEqual(rows, [fresh])
  t.is(await fixture.database.get(suppressions, { organizationId }, old.id), undefined)
  await fixture.assertSound(t)
})

test('a repeated idempotency key returns the suppressed result', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const entry = await add(fixture, 'anna@example.net')
  const first = await fixture.submit({ idempotencyKey: 'k' })
  await fixture.core.suppressions.remove(principal, entry.id)
  t.deepEqual(await fixture.submit({ idempotencyKey: 'k' }), { ...first, status: 'suppressed', repeated: true })
})

test('addresses match in any case, composed or not, and in both forms of a domain', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const entry = await add(fixture, 'Zoe\u0308@BÜCHER.example')
  t.is(entry.email, 'zoë@xn--bcher-kva.example')
  t.is((await fixture.submit({ rcptTo: ['ZO\u00cb@xn--bcher-kva.example'] })).status, 'suppressed')
  const found = async (q: string) => (await fixture.core.suppressions.list(principal, { q, limit: 10 })).rows.length
  t.deepEqual(await Promise.all(['ZOË', 'bücher', 'XN--', 'anna'].map(found)), [1, 1, 1, 0])
})

test('entries of other organizations have no effect', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const entry = await add(fixture, 'anna@example.net')
  await fixture.core.suppressions.remove(principal, entry.id)
  await addSuppressions(fixture.database, 'org_2', [entry], startOfTime)
  t.is((await fixture.submit()).status, undefined)
})

test('addSuppressions() adds an address once, also in concurrent calls', async (t) => {
  const fixture = await coreFixture(t)
  const placed = await Promise.all(Array.from({ length: 8 }, () => fixture.core.suppressions.add(principal, { email: 'anna@example.net' })))
  t.is(placed.filter(({ added }) => added).length, 1)
  t.is(new Set(placed.map(({ suppression }) => suppression.id)).size, 1)
})

test('addSuppressions() for new addresses keeps existing entries and renews expired ones', async (t) => {
  const fixture = await coreFixture(t)
  const there = await add(fixture, 'anna@example.net', { reason: 'first' })
  const expired = await add(fixture, 'otto@example.net', { expiresAt: startOfTime + hour })
  const now = startOfTime + 2 * hour
  const entries = ['anna', 'otto', 'eva', 'eva'].map((name, i) => ({
    ...{ id: `sup_new${i}`, email: `${name}@example.net`, reason: null, projectId: null },
    ...{ source: 'import' as const, expiresAt: null, createdAt: now },
  }))
  const placed = await addSuppressions(fixture.database, organizationId, entries, now, { expectsNew: true })
  t.deepEqual(
    placed.map(({ suppression, added }) => [suppression.id, added]),
    [
      [there.id, false],
      ['sup_new1', true],
      ['sup_new2', true],
      ['sup_new2', false],
    ],
  )
  const { rows } = await fixture.core.suppressions.list(principal, { limit: 10 })
  t.deepEqual(rows.map(({ id }) => id).toSorted(), [there.id, 'sup_new1', 'sup_new2'].toSorted())
  t.is(await fixture.database.get(suppressions, { organizationId }, expired.id), undefined)
  await fixture.assertSound(t)
})

test('addSuppressions() never shortens an entry', async (t) => {
  const fixture = await coreFixture(t)
  const until = async (expiresAt: number | null) =>
    (await add(fixture, 'anna@example.net', { expiresAt, reason: String(expiresAt) })).expiresAt
  t.is(await until(startOfTime + 2 * hour), startOfTime + 2 * hour)
  t.is(await until(startOfTime + hour), startOfTime + 2 * hour)
  t.is(await until(startOfTime + 3 * hour), startOfTime + 3 * hour)
  t.is(await until(null), null)
  t.is(await until(startOfTime + hour), null)
  t.is((await add(fixture, 'anna@example.net')).reason, String(startOfTime + 2 * hour), 'other fields are unchanged')
})

test('an import with only refused rows yields to other work', async (t) => {
  const { core } = await coreFixture(t)
  let [mutex, isDone] = [0, false]
  const toEntry = (): never => {
    throw invalid([{ path: 'email', message: 'is invalid' }])
  }
  async function* rows(bytes: AsyncIterable<Uint8Array>) {
    for await (const _ of bytes);
    mutex = 0
    for (let row = 0; row < 20_000; row++) yield [{ fields: { email: 'x' } }]
  }
  const counting = (async () => {
    for (; !isDone; mutex++) await new Promise(setImmediate)
  })()
  const bytes = (async function* () {
    yield Buffer.from('x')
  })()
  const { counts } = await core.suppressionImport.run(principal, { bytes, rows, toEntry, signal: new AbortController().signal })
  isDone = true
  await counting
  t.is(counts.refused, 20_000)
  t.true(mutex >= 40, `${mutex} turns`)
})
