/** Messages with VERP: one copy per recipient, and the state after a round with any end. */
import test from '#test'
import { within } from '#store/tuple.ts'
import type { AttemptReport } from '#core/delivery/transport.ts'
import { readAttempts } from '#core/trace/attempts.ts'
import { recipientOfVerp } from '#core/trace/return-paths.ts'
import type { Trace } from '#core/trace/trace.ts'
import { destinations, type Destination } from '#core/routing/destination.ts'
import { failoverPolicies, type FailoverPolicy } from '#core/routing/failover-policy.ts'
import { destinationDefaults, organizationId, projectId, secrets, type CoreFixture, relaying } from '../core-fixture.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { hang, report, take, type Call } from '../scripted-transport.ts'
import { column } from '../../support/column.ts'

const minute = 60_000
const [anna, ben, carl] = ['anna@example.net', 'ben@example.net', 'carl@example.net'] as const
const three = [anna, ben, carl]
const plain = 'shop@example.com'
const verp = { bounceDomain: null }

const attempts = async (fixture: CoreFixture, traceId: string) =>
  readAttempts(fixture.database, organizationId, await fixture.trace(traceId))
const fates = ({ recipients }: Trace): string[] => recipients.map(({ address, status }) => `${address} ${status}`)
const returnPaths = ({ recipients }: Trace): string[] => recipients.map(({ verp: path = '' }) => path)
const envelopes = ({ transport }: CoreFixture) => transport.calls.map(({ job }) => [job.mailFrom, ...job.rcptTo])

const refusal = { code: 553, enhanced: '5.7.1', text: 'Sender address rejected: not owned by user shop' }
const refusing = (call: Call): AttemptReport => ({
  ...report(call, 'permanent'),
  recipients: call.job.rcptTo.map((address) => ({ address, verdict: 'permanent', reply: refusal, ofSender: true })),
})

test('VERP copies: each recipient gets a separate copy and return path', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  const trace = await fixture.trace(traceId)
  t.is(trace.status, 'sent')
  const paths = returnPaths(trace)
  t.is(new Set(paths).size, 3)
  t.deepEqual(
    envelopes(fixture),
    three.map((address, i) => [paths[i] ?? '', address]),
  )
  for (const [i, path] of paths.entries()) {
    t.regex(path, /^b[0-9a-z]{21}@bounces\.postern\.test$/)
    t.deepEqual(await recipientOfVerp(fixture.database, secrets, path.toUpperCase()), {
      organizationId,
      traceId,
      address: three[i] ?? '',
    })
    t.is(trace.recipients[i]?.returnPath, path)
  }
  const [attempt] = await attempts(fixture, traceId)
  t.like(attempt, {
    state: 'finished',
    milliseconds: { total: 15 },
    recipients: three.map((address) => ({ address, verdict: 'accepted' })),
  })
  t.is(await fixture.queueLength(), 0)
  t.true(
    (await fixture.details(traceId)).includes(
      'verp: Each recipient gets a copy with a separate return path at bounces.postern.test (VERP).',
    ),
  )
})

test('VERP copies: one additional write for each further recipient', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const writesOf = async (wish: typeof verp | undefined, done: number): Promise<number> => {
    let writes = 0
    fixture.onQueued = () => (fixture.kv.beforeWrite = () => void writes++)
    await fixture.submit({ rcptTo: three, verp: wish })
    await fixture.settled()
    t.is(fixture.attempted.length, done, 'sent')
    return writes
  }
  t.is(await writesOf(undefined, 1), 2)
  t.is(await writesOf(verp, 2), 4)
})

test('VERP copies: a retry covers only the rest, with the same return paths', async (t) => {
  const fixture = await relaying(t, (call) =>
    take(call, call.nth > 3 ? 'accepted' : { [anna]: 'accepted', [ben]: 'transient', [carl]: 'permanent' }),
  )
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first')
  t.deepEqual(fates(await fixture.trace(traceId)), [`${anna} sent`, `${ben} queued`, `${carl} failed`])
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'second')
  const trace = await fixture.trace(traceId)
  t.deepEqual(fates(trace), [`${anna} sent`, `${ben} sent`, `${carl} failed`])
  t.deepEqual(envelopes(fixture).slice(3), [[returnPaths(trace)[1] ?? '', ben]])
})

test('VERP copies: results are durable before the next copy can be accepted', async (t) => {
  const seen: unknown[] = []
  const fixture = await relaying(t, async (call) => {
    await call.job.beforeFinalDot()
    const [record] = await attempts(fixture, call.job.traceId)
    seen.push([record?.state, record?.recipients?.map(({ address, verdict }) => `${address} ${verdict}`)])
    return report(call, { [ben]: 'permanent' })
  })
  await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  t.deepEqual(seen, [
    ['started', [`${anna} unknown`]],
    ['started', [`${anna} accepted`, `${ben} unknown`]],
    ['started', [`${anna} accepted`, `${ben} permanent`, `${carl} unknown`]],
  ])
})

test('VERP copies: a crash within a round leaves at most one unknown recipient', async (t) => {
  const fixture = await relaying(t, async (call) => {
    if (call.nth < 3) return take(call, { [ben]: 'permanent' })
    await call.job.beforeFinalDot()
    return hang(call)
  })
  const four = [...three, 'dora@example.net']
  const { traceId } = await fixture.submit({ rcptTo: four, verp })
  await fixture.settled()
  t.is((await attempts(fixture, traceId))[0]?.recipients?.length, 3, 'the third copy is in flight')
  const next = await fixture.crash()
  next.transport.script = (call) => take(call)
  await next.queue.start()
  await next.settled()
  t.is(next.attempted.length, 1, 'sent')
  const trace = await next.trace(traceId)
  t.deepEqual(fates(trace), [`${anna} sent`, `${ben} failed`, `${carl} sent`, 'dora@example.net sent'])
  t.like(trace, { attempts: 2, nextAttemptAt: null })
  t.deepEqual(
    envelopes(next).map(([, address]) => address),
    [anna, ben, carl, carl, 'dora@example.net'],
  )
  t.deepEqual(trace.recipients[0]?.reply, { code: 250, enhanced: '2.0.0', text: 'queued' })
  const [interrupted] = await attempts(next, traceId)
  t.like(interrupted, { state: 'unknown', error: { code: 'interrupted' } })
  t.deepEqual(
    interrupted?.recipients?.map(({ verdict }) => verdict),
    ['accepted', 'permanent', 'unknown'],
  )
  t.is(await next.queueLength(), 0)
})

test('VERP copies: a crash before a copy is recorded repeats only that copy', async (t) => {
  const fixture = await relaying(t, (call) => (call.nth === 1 ? take(call) : hang(call)))
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.transport.calls.length, 2, 'the second copy has started')
  const next = await fixture.crash()
  next.transport.script = (call) => take(call)
  await next.queue.start()
  await next.settled()
  t.is(next.attempted.length, 1, 'sent')
  // the first copy was accepted but not recorded, so only its outcome is unknown
  t.deepEqual(next.transport.attemptsAt(traceId).slice(2), [[anna], [ben], [carl]])
  t.is((await next.trace(traceId)).status, 'sent')
})

for (const error of ['connect_refused', 'auth_failed', 'destination_misconfigured', 'provider_rate_limited', 'tls_failed']) {
  test(`VERP copies: the first ${error} ends the round, and the rest waits with this error`, async (t) => {
    const fixture = await relaying(t, (call) => (call.nth === 2 ? report(call, 'transient', error) : take(call)))
    const { traceId } = await fixture.submit({ rcptTo: three, verp })
    await fixture.settled()
    t.is(fixture.attempted.length, 1, 'first')
    t.is(fixture.transport.calls.length, 2)
    const between = await fixture.trace(traceId)
    t.deepEqual(fates(between), [`${anna} sent`, `${ben} queued`, `${carl} queued`])
    t.is(between.nextAttemptAt, startOfTime + minute)
    t.like((await attempts(fixture, traceId))[0], { state: 'finished', error: { code: error } })
    t.regex((await fixture.details(traceId)).join('\n'), new RegExp(`1 accepted, 2 deferred. The attempt failed: ${error}`))
    fixture.clock.advance(minute)
    await fixture.settled()
    t.is(fixture.attempted.length, 2, 'second')
    t.deepEqual(fixture.transport.attemptsAt(traceId).slice(2), [[ben], [carl]])
    t.is((await fixture.trace(traceId)).status, 'sent')
  })
}

test('VERP copies: an unknown outcome ends the round, and counts for one recipient', async (t) => {
  const fixture = await relaying(t, async (call) => {
    await call.job.beforeFinalDot()
    const lost = call.job.rcptTo.some((address) => address !== carl)
    return lost ? report(call, 'unknown', 'connection_lost') : report(call, 'accepted')
  })
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  for (let n = 1; n <= 5; n++) {
    await fixture.settled()
    t.is(fixture.attempted.length, n, `attempt ${n}`)
    fixture.clock.advance(60 * minute)
  }
  t.deepEqual(fixture.transport.attemptsAt(traceId), [[anna], [anna], [ben], [ben], [carl]])
  t.deepEqual(fates(await fixture.trace(traceId)), [`${anna} failed`, `${ben} failed`, `${carl} sent`])
})

test('VERP copies: a refused return path falls back to the plain one in the same round', async (t) => {
  const fixture = await relaying(t, (call) => (call.job.mailFrom === plain ? take(call) : refusing(call)))
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  const trace = await fixture.trace(traceId)
  t.is(trace.status, 'sent')
  t.deepEqual(envelopes(fixture), [
    [returnPaths(trace)[0] ?? '', anna],
    [plain, anna],
    [plain, ben],
    [plain, carl],
  ])
  t.deepEqual(column(trace.recipients, 'returnPath'), [plain, plain, plain])
  t.deepEqual((await attempts(fixture, traceId))[0]?.verpRefusal, refusal)
  t.regex(
    (await fixture.details(traceId)).join('\n'),
    /3 accepted\. The provider refused the return paths of VERP \(553 Sender address rejected: not owned by user shop\), so the plain one was used\./,
  )
})

test('VERP copies: a sender refused with the plain return path too is refused', async (t) => {
  const fixture = await relaying(t, refusing)
  const { traceId } = await fixture.submit({ rcptTo: [anna], verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'failed')
  t.is(fixture.transport.calls.length, 2)
  t.like(await fixture.trace(traceId), { status: 'failed', recipients: [{ status: 'failed', reply: refusal }] })
})

test('VERP copies: a refused recipient is not tried with the plain return path', async (t) => {
  const fixture = await relaying(t, (call) => take(call, 'permanent'))
  await fixture.submit({ rcptTo: [anna, ben], verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'failed')
  t.is(fixture.transport.calls.length, 2)
})

for (const [what, changes] of [
  ['the preset', { preset: 'gmail', host: 'smtp.gmail.com' }],
  ['the host', { host: 'smtp.sendgrid.net' }],
] as const) {
  test(`VERP copies: a server that rewrites the sender (known by ${what}) gets one message`, async (t) => {
    const fixture = await relaying(t, (call) => take(call))
    await fixture.destination(changes)
    const { traceId } = await fixture.submit({ rcptTo: three, verp })
    await fixture.settled()
    t.is(fixture.attempted.length, 1, 'sent')
    t.deepEqual(envelopes(fixture), [[plain, ...three]])
    t.deepEqual(column((await fixture.trace(traceId)).recipients, 'returnPath'), [plain, plain, plain])
  })
}

test('VERP copies: an API provider gets one message without a return path', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const { id, name, environment, priority, mode, from, maxConnections, maxRatePerMin, createdAt, updatedAt } = destinationDefaults
  await fixture.put<Destination>(destinations, {
    ...{ id, projectId, name, environment, priority, mode, from, maxConnections, maxRatePerMin, createdAt, updatedAt },
    ...{ provider: 'resend', baseUrl: null, credentials: {}, sealedCredentials: {} },
  })
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  t.deepEqual(envelopes(fixture), [[plain, ...three]])
  t.deepEqual(column((await fixture.trace(traceId)).recipients, 'returnPath'), [null, null, null])
})

test('VERP copies: failover keeps the return paths of the remaining recipients', async (t) => {
  const fixture = await relaying(t, (call) => (call.nth === 2 ? report(call, 'transient', 'connect_refused') : take(call)))
  await fixture.destination({ id: 'dst_2', name: 'Fallback' })
  const policy = { id: 'fop_1', projectId, primaryId: 'dst_1', fallbackIds: ['dst_2'], on: ['transient' as const], latencyMs: null }
  await fixture.put<FailoverPolicy>(failoverPolicies, { ...policy, createdAt: startOfTime, updatedAt: startOfTime })
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'sent')
  const trace = await fixture.trace(traceId)
  t.like(trace, { status: 'sent', destinationId: 'dst_2' })
  const [first = '', second = '', third = ''] = returnPaths(trace)
  t.deepEqual(
    fixture.transport.calls.map(({ target, job }) => [target.destinationId, job.mailFrom]),
    [
      ['dst_1', first],
      ['dst_1', second],
      ['dst_2', second],
      ['dst_2', third],
    ],
  )
})

test('VERP copies: a defect within a round resends to no accepted recipient', async (t) => {
  const fixture = await relaying(t, (call) => {
    if (call.nth === 3) throw new Error('a defect')
    return take(call)
  })
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.errors.splice(0).length, 1, 'the defect is reported')
  fixture.clock.advance(minute)
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  t.deepEqual(fixture.transport.attemptsAt(traceId), [[anna], [ben], [carl], [carl]])
  t.like(await fixture.trace(traceId), { status: 'sent', attempts: 2 })
})

test('VERP copies: stop ends the round between copies; the rest follows on start', async (t) => {
  const gate = Promise.withResolvers<void>()
  const fixture = await relaying(t, async (call) => {
    if (call.nth === 2) await gate.promise
    return take(call)
  })
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.transport.calls.length, 2, 'the second copy is in flight')
  const stopping = fixture.queue.stop(30_000)
  gate.resolve()
  await stopping
  t.is(fixture.transport.calls.length, 2)
  t.like(await fixture.trace(traceId), { status: 'queued', nextAttemptAt: startOfTime })
  t.like((await attempts(fixture, traceId))[0], { error: { code: 'closed' } })
  const next = await fixture.crash()
  await next.queue.start()
  await next.settled()
  t.is(next.attempted.length, 1, 'sent')
  t.deepEqual(next.transport.attemptsAt(traceId), [[anna], [ben], [carl]])
  t.is((await next.trace(traceId)).status, 'sent')
})

test('VERP copies: a round ended by a fault does not wait for another allowance', async (t) => {
  const fixture = await relaying(t, (call) => report(call, 'transient', 'connect_refused'))
  await fixture.destination({ maxRatePerMin: 1 })
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'first')
  t.deepEqual(fixture.transport.attemptsAt(traceId), [[anna]])
})

test('VERP copies: every copy uses an allowance; the wait ends when the service stops', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  await fixture.destination({ maxRatePerMin: 2 })
  const { traceId } = await fixture.submit({ rcptTo: three, verp })
  for (let n = 1; n <= 2; n++) {
    await fixture.settled()
    t.is(fixture.transport.calls.length, n, `copy ${n}`)
    t.is(fixture.transport.calls.length, n)
    if (n === 1) fixture.clock.advance(30_000)
  }
  await fixture.queue.stop(30_000)
  t.deepEqual(fixture.transport.attemptsAt(traceId), [[anna], [ben]])
  t.deepEqual(fates(await fixture.trace(traceId)), [`${anna} sent`, `${ben} sent`, `${carl} queued`])
})

test('VERP copies: the writes of a copy do not grow with earlier copies', async (t) => {
  const fixture = await relaying(t, (call) => take(call))
  const bytes: number[] = []
  fixture.onQueued = () => (fixture.kv.beforeWrite = ({ sets }) => void bytes.push(sets.reduce((sum, { value }) => sum + value.length, 0)))
  const rcptTo = Array.from({ length: 40 }, (_, i) => `r${i + 10}@example.net`)
  const { traceId } = await fixture.submit({ rcptTo, verp })
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'sent')
  t.is(bytes.length, 41)
  t.is(bytes.at(-2), bytes[1])
  const records = await attempts(fixture, traceId)
  t.deepEqual(
    records.map(({ state, recipients = [] }) => [state, recipients.length]),
    [['finished', 40]],
  )
  let rows = 0
  for await (const _row of fixture.database.kv.range(within([organizationId, 'event', traceId]))) rows++
  t.is(rows, 1, 'the final result replaces intermediate rows')
})
