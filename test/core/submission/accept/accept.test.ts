/** Acceptance: every outcome, idempotency, and refusals without traces. */
import { hash } from 'node:crypto'
import test, { type ExecutionContext } from '#test'
import { captureOf } from '#core/capture/capture.ts'
import { destinations } from '#core/routing/destination.ts'
import type { ContentFacts, Submission } from '#core/submission/submission.ts'
import { readWholeContent } from '#store/content.ts'
import { queueHead } from '#store/queue.ts'
import { pack } from '#store/tuple.ts'
import { coreFixture, organizationId, projectId, type CoreFixture, relayingFixture, type CoreFixtureOptions } from '../../core-fixture.ts'
import { startOfTime } from '../../../support/fake-clock.ts'
import { column } from '../../../support/column.ts'

const day = 24 * 3600 * 1000
const content = 'Subject: hi\r\n\r\nhello\r\n'
const sha256 = hash('sha256', content)

/** Fixture with a live destination and no deliveries. */
const relaying = (t: ExecutionContext, options: CoreFixtureOptions = {}): Promise<CoreFixture> =>
  relayingFixture(t, { deaf: true, ...options })

/** Counts the rows that a send leaves in the store, by kind. */
async function left(fixture: CoreFixture): Promise<string[]> {
  const rows = await fixture.keys('')
  const kinds = ['content', 'send', 'capture', 'queue', 'idempotency', 'content.open']
  return kinds.filter((kind) => rows.some((row) => row.includes(`\u0002${kind}\0`)))
}

test('accept(): relays with the complete record, content and queue entry', async (t) => {
  const fixture = await relaying(t)
  const facts: ContentFacts = {
    prefix: 'Received: x\r\n',
    subject: 'hi',
    messageId: 'm@x',
    headerFrom: 'shop@example.com',
    headerAddresses: ['shop@example.com', 'anna@example.net'],
    eightBit: true,
  }
  const submission = {
    door: 'smtp',
    mailFrom: 'bounce@example.com',
    rcptTo: ['Anna@example.net', 'b@example.net', 'anna@example.net'],
    facts,
  } as const
  const { traceId, outcome, repeated } = await fixture.submit(submission)
  t.deepEqual([outcome, repeated], ['relayed', false])
  const trace = await fixture.trace(traceId)
  t.deepEqual(trace, {
    id: traceId,
    projectId,
    door: 'smtp',
    submittedBy: 'key_1',
    createdAt: startOfTime,
    updatedAt: startOfTime,
    status: 'queued',
    outcome: 'relayed',
    outcomeReason: 'The destination Provider is live.',
    mailFrom: 'bounce@example.com',
    recipients: [
      { address: 'Anna@example.net', status: 'queued' },
      { address: 'b@example.net', status: 'queued', bcc: true },
    ],
    headerFrom: 'shop@example.com',
    subject: 'hi',
    messageId: 'm@x',
    destinationId: 'dst_1',
    route: { by: 'rule', ruleId: 'rul_1', reason: 'Rule any (priority 10) selects the destination Provider.' },
    content: { id: traceId, size: content.length, sha256, rows: 1 },
    prefix: 'Received: x\r\n',
    eightBit: true,
    smtputf8: false,
    attempts: 0,
    unknownAttempts: 0,
    nextAttemptAt: startOfTime,
  })
  t.is(Buffer.from(await readWholeContent(fixture.database, organizationId, trace.content)).toString(), content)
  t.deepEqual(await queueHead(fixture.database, { destinationId: 'dst_1', projectId }, { limit: 5 }), [
    { destinationId: 'dst_1', projectId, dueMs: startOfTime, traceId, organizationId, attempts: 0, acceptedMs: startOfTime },
  ])
  t.is(await fixture.queueLength(), 1)
  t.deepEqual(fixture.captured, [])
  t.deepEqual(fixture.accepted, [trace])
  t.deepEqual(column(fixture.queued, 'traceId'), [traceId])
})

for (const { title, set, expected } of [
  {
    title: 'an anonymous project, even if a live destination matches',
    set: (fixture: CoreFixture) => fixture.project({ status: 'anonymous' }),
    expected: { outcome: 'captured.anonymous_project', destinationId: null, reason: /not claimed yet/ },
  },
  {
    title: 'a sandbox destination',
    set: (fixture: CoreFixture) => fixture.destination({ mode: 'sandbox' }),
    expected: { outcome: 'captured.sandbox_destination', destinationId: 'dst_1', reason: /is in sandbox mode; promote it to live/ },
  },
  {
    title: 'no route under the policy capture',
    set: (fixture: CoreFixture) => fixture.remove(destinations, 'dst_1'),
    expected: { outcome: 'captured.no_route', destinationId: null, reason: /no-route policy is to capture/ },
  },
]) {
  test(`accept(): captures for ${title}`, async (t) => {
    const fixture = await relaying(t)
    await set(fixture)
    const facts = { headerAddresses: ['shop@example.com', 'cc@example.org'], headerFrom: 'Shop@example.com' }
    const { traceId, outcome } = await fixture.submit({
      rcptTo: ['Anna@Example.net'],
      mailFrom: 'Bounce@example.com',
      facts: facts as never,
    })
    t.is(outcome, expected.outcome as never)
    const trace = await fixture.trace(traceId)
    t.like(trace, { status: 'captured', nextAttemptAt: null, destinationId: expected.destinationId, outcome: expected.outcome })
    t.deepEqual(trace.recipients, [{ address: 'Anna@Example.net', status: 'captured', bcc: true }])
    t.regex(trace.outcomeReason, expected.reason)
    const stored = captureOf(trace)
    t.deepEqual(fixture.captured, [stored])
    t.deepEqual(stored, {
      id: trace.capture?.id ?? '',
      traceId,
      projectId,
      captureReason: expected.outcome as never,
      destinationId: expected.destinationId,
      intendedFrom: 'Shop@example.com',
      intendedTo: ['Anna@Example.net'],
      addressesSeen: ['anna@example.net', 'bounce@example.com', 'cc@example.org', 'shop@example.com'],
      capturedAt: startOfTime,
    })
    t.is(await fixture.queueLength(), 0)
    t.deepEqual(fixture.queued, [])
    t.is(await fixture.database.kv.counter(pack([organizationId, 'counter', 'captures', projectId, '2030-01'])), 1)
  })
}

for (const noRoutePolicy of ['reject', 'relay_default'] as const) {
  test(`accept(): refuses without a route under policy ${noRoutePolicy}, and stores nothing`, async (t) => {
    const fixture = await coreFixture(t)
    await fixture.project({ noRoutePolicy })
    const before = await fixture.keys('')
    await t.throwsAsync(fixture.submit({ idempotencyKey: 'k' }), {
      code: 'no_route',
      message: `No routing rule of the project matches shop@example.com. The project's no-route policy is ${noRoutePolicy}; create a routing rule, or give a destination.`,
    })
    t.deepEqual(await fixture.keys(''), before)
  })
}

test('accept(): refuses an unknown project, and a destination of another project', async (t) => {
  const fixture = await relaying(t)
  await t.throwsAsync(fixture.submit({ projectId: 'prj_9' }), { code: 'not_found', message: 'project_id: no such project.' })
  await fixture.destination({ id: 'dst_2', projectId: 'prj_2' })
  await t.throwsAsync(fixture.submit({ destinationId: 'dst_2' }), {
    code: 'validation_failed',
    message: 'destination_id: no destination of this project has this id',
  })
  await t.throwsAsync(fixture.submit({ destinationId: 'dst_2', door: 'smtp' }), { code: 'destination_misconfigured' })
  t.deepEqual(await left(fixture), [])
})

test('accept(): uses the requested destination instead of the rules', async (t) => {
  const fixture = await relaying(t)
  await fixture.destination({ id: 'dst_2', name: 'Other' })
  const { traceId } = await fixture.submit({ destinationId: 'dst_2' })
  t.like(await fixture.trace(traceId), {
    destinationId: 'dst_2',
    route: { by: 'request', ruleId: null, reason: 'The request selects the destination Other.' },
  })
})

test('accept(): marks messages that require SMTPUTF8', async (t) => {
  const fixture = await relaying(t)
  const needs = async (changes: Partial<Submission>) => (await fixture.trace((await fixture.submit(changes)).traceId)).smtputf8
  t.false(await needs({}))
  t.true(await needs({ mailFrom: 'jürg@example.com' }))
  t.true(await needs({ rcptTo: ['anna@example.net', 'zoë@example.net'] }))
  t.true(await needs({ facts: { smtpUtf8: true } as never }))
})

test('accept(): 25 concurrent sends with one idempotency key create one message', async (t) => {
  const fixture = await relaying(t)
  await fixture.project({ sendBudget: 1 })
  const all = await Promise.all(Array.from({ length: 25 }, () => fixture.submit({ idempotencyKey: 'order 7' })))
  t.is(new Set(all.map(({ traceId }) => traceId)).size, 1)
  t.is(all.filter(({ repeated }) => !repeated).length, 1)
  t.is(await fixture.queueLength(), 1)
  t.is(fixture.queued.length, 1)
  t.is((await fixture.keys(`\u0002content\0`)).length, 1)
  t.is((await fixture.keys(`\u0002send\0`)).length, 1)
  const again = await fixture.submit({ idempotencyKey: 'order 7', content: 'Subject: other\r\n\r\nbody', rcptTo: ['x@example.org'] })
  t.deepEqual(again, { traceId: all[0]?.traceId ?? '', outcome: 'relayed', repeated: true })
  t.is((await fixture.keys(`\u0002content\0`)).length, 1)
  await t.throwsAsync(fixture.submit({ idempotencyKey: 'order 8' }), { code: 'project_budget_exhausted' })
})

test('accept(): keeps an idempotency key 24 hours, per project and after a crash', async (t) => {
  const fixture = await relaying(t)
  await fixture.project({ id: 'prj_2', isDefault: false })
  await fixture.rule({ any: true }, 'dst_2', { projectId: 'prj_2' })
  await fixture.destination({ id: 'dst_2', projectId: 'prj_2' })
  const first = await fixture.submit({ idempotencyKey: 'k' })
  const elsewhere = await fixture.submit({ idempotencyKey: 'k', projectId: 'prj_2' })
  t.not(elsewhere.traceId, first.traceId)
  t.not((await fixture.submit({ idempotencyKey: 'K' })).traceId, first.traceId)
  const next = await fixture.crash()
  next.clock.advance(day - 1)
  await next.database.sweep(next.clock.now())
  t.is((await next.submit({ idempotencyKey: 'k' })).traceId, first.traceId)
  next.clock.advance(1)
  const fresh = await next.submit({ idempotencyKey: 'k' })
  t.not(fresh.traceId, first.traceId)
  t.is((await next.submit({ idempotencyKey: 'k' })).traceId, fresh.traceId)
  await next.database.sweep(next.clock.now())
  t.is((await next.submit({ idempotencyKey: 'k' })).traceId, fresh.traceId, 'the sweep of the first leaves the second')
  next.clock.step(-2 * day)
  t.is((await next.submit({ idempotencyKey: 'k' })).traceId, fresh.traceId, 'the clock was set back')
  next.clock.step(5 * day)
  await next.database.sweep(next.clock.now())
  t.deepEqual(await next.keys('\u0002idempotency\0'), [])
})

test("accept(): returns a repeated key's result even if the send would be refused now", async (t) => {
  const fixture = await relaying(t)
  const first = await fixture.submit({ idempotencyKey: 'k' })
  await fixture.project({ sendBudget: 1, noRoutePolicy: 'reject' })
  await fixture.remove(destinations, 'dst_1')
  t.deepEqual(await fixture.submit({ idempotencyKey: 'k' }), { traceId: first.traceId, outcome: 'relayed', repeated: true })
})

test('accept(): allows exactly the budget, and counts no refused send', async (t) => {
  const fixture = await relaying(t)
  await fixture.project({ sendBudget: 7 })
  const all = await Promise.allSettled(Array.from({ length: 30 }, () => fixture.submit()))
  t.is(all.filter(({ status }) => status === 'fulfilled').length, 7)
  const refused = all.find((one) => one.status === 'rejected')
  t.like(refused?.reason, {
    code: 'project_budget_exhausted',
    message: "The project's budget of 7 sends per day is exhausted; raise it, or send again after midnight UTC.",
    retryAfterSeconds: 12 * 3600,
  })
  t.is(await fixture.queueLength(), 7)
  t.is((await fixture.keys(`\u0002content\0`)).length, 7)
  t.is(await fixture.kv.counter(pack([organizationId, 'counter', 'sends', projectId, '2030-01-15'])), 7)
  fixture.clock.advance(12 * 3600 * 1000)
  t.is((await fixture.submit()).outcome, 'relayed', 'a new day')
})

test('accept(): allows exactly the monthly captures; refusals use no budget', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.project({ monthlyCaptureCap: 5, sendBudget: 9 })
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => fixture.submit()))
  t.is(all.filter(({ status }) => status === 'fulfilled').length, 5)
  t.like(all.find((one) => one.status === 'rejected')?.reason, { code: 'quota_exhausted_captures', nextAction: 'upgrade' })
  t.is(await fixture.kv.counter(pack([organizationId, 'counter', 'sends', projectId, '2030-01-15'])), 5)
  await fixture.destination()
  await fixture.rule({ any: true })
  t.is((await fixture.submit()).outcome, 'relayed', 'relayed mail is not a capture')
  await fixture.destination({ mode: 'sandbox' })
  fixture.clock.step(Date.UTC(2030, 1, 1) - startOfTime - 1)
  await t.throwsAsync(fixture.submit(), { code: 'quota_exhausted_captures' })
  fixture.clock.step(1)
  t.is((await fixture.submit()).outcome, 'captured.sandbox_destination', 'a new month')
})

test('accept(): slides the rate of an SMTP credential across the minute boundary', async (t) => {
  const fixture = await relaying(t)
  const submit = () => fixture.submit({ door: 'smtp', submittedBy: 'crd_1', ratePerMinute: 10 })
  const burst = async (n: number): Promise<number> => {
    const all = await Promise.allSettled(Array.from({ length: n }, submit))
    return all.filter(({ status }) => status === 'fulfilled').length
  }
  fixture.clock.advance(50_000)
  t.is(await burst(30), 10)
  await t.throwsAsync(submit(), {
    code: 'rate_limit_exceeded',
    message: 'This SMTP credential can send 10 messages per minute; wait and send again.',
  })
  fixture.clock.advance(10_000)
  t.is(await burst(5), 0, 'a new minute alone frees no room')
  fixture.clock.advance(15_000)
  t.is(await burst(5), 2, 'a quarter of the previous minute has left the window')
  fixture.clock.advance(30_000)
  t.is(await burst(20), 5)
  fixture.clock.advance(120_000)
  t.is(await burst(20), 10)
  t.is(await fixture.queueLength(), 27)
  t.is((await fixture.submit({ door: 'rest', ratePerMinute: 1 })).outcome, 'relayed')
})

test('accept(): counts rates per submitter, and drops old minutes', async (t) => {
  const fixture = await relaying(t)
  const by = (submittedBy: string) => fixture.submit({ door: 'smtp', submittedBy, ratePerMinute: 1 })
  await by('crd_1')
  await by('crd_2')
  await t.throwsAsync(by('crd_1'), { code: 'rate_limit_exceeded' })
  fixture.clock.advance(5 * 60_000)
  await fixture.database.sweep(fixture.clock.now())
  t.deepEqual(await fixture.keys('\u0002rate\0'), [])
  await by('crd_1')
})

test('accept(): refuses recipient count and size before counting anything', async (t) => {
  const fixture = await relaying(t, { maxRecipients: 3, maxMessageBytes: 1000 })
  await fixture.project({ sendBudget: 1 })
  const many = Array.from({ length: 4 }, (_, i) => `r${i}@example.net`)
  await t.throwsAsync(fixture.submit({ rcptTo: many }), {
    code: 'validation_failed',
    message: 'The message has 4 recipients; at most 3 are allowed. Split it.',
  })
  await t.throwsAsync(fixture.submit({ rcptTo: [] }), { code: 'validation_failed', message: /no recipient; give at least one/ })
  await t.throwsAsync(fixture.submit({ content: 'x'.repeat(1001) }), {
    code: 'request_too_large',
    message: 'The message has 1001 bytes; at most 1000 are allowed. Send less, or link to large files.',
  })
  t.deepEqual(await left(fixture), [])
  t.is((await fixture.submit({ rcptTo: many.slice(1), content: 'x'.repeat(1000) })).outcome, 'relayed')
})

test('accept(): names the first of several failed gates', async (t) => {
  const fixture = await coreFixture(t, { maxRecipients: 1, maxMessageBytes: 10 })
  await fixture.project({ monthlyCaptureCap: 0, sendBudget: 0 })
  const all = { rcptTo: ['a@example.net', 'b@example.net'], content: 'x'.repeat(11), door: 'smtp', ratePerMinute: 0 } as const
  await t.throwsAsync(fixture.submit(all), { code: 'validation_failed' })
  await t.throwsAsync(fixture.submit({ ...all, rcptTo: ['a@example.net'] }), { code: 'request_too_large' })
  await t.throwsAsync(fixture.submit({ ...all, rcptTo: ['a@example.net'], content: 'x' }), { code: 'rate_limit_exceeded' })
  await t.throwsAsync(fixture.submit({ content: 'x' }), { code: 'quota_exhausted_captures' })
  await fixture.project({ monthlyCaptureCap: 1, sendBudget: 0 })
  await t.throwsAsync(fixture.submit({ content: 'x' }), { code: 'project_budget_exhausted' })
  await fixture.project({ monthlyCaptureCap: 1 })
  t.is((await fixture.submit({ content: 'x' })).outcome, 'captured.no_route', 'refused sends used up none of the cap')
})

test('accept(): leaves no content of a refused or repeated message, even if on disk', async (t) => {
  const fixture = await relaying(t)
  const large = `Subject: x\r\n\r\n${'x'.repeat(900_000)}`
  await fixture.submit({ idempotencyKey: 'k', content: 'small' })
  const before = await fixture.keys('')
  await fixture.submit({ idempotencyKey: 'k', content: large })
  t.deepEqual(await fixture.keys(''), before)
  await fixture.project({ sendBudget: 1 })
  await fixture.submit({ content: large }).catch((error: { code: string }) => t.is(error.code, 'project_budget_exhausted'))
  await fixture.submit({ content: large, rcptTo: [] }).catch((error: { code: string }) => t.is(error.code, 'validation_failed'))
  t.deepEqual(
    (await fixture.keys('')).filter((key) => !before.includes(key)),
    [],
  )
})

test('accept(): stores a large message completely', async (t) => {
  const fixture = await relaying(t)
  const large = Buffer.alloc(900_000, '0123456789')
  const { traceId } = await fixture.submit({ content: large, idempotencyKey: 'k' })
  const { content: ref } = await fixture.trace(traceId)
  t.is(Buffer.compare(await readWholeContent(fixture.database, organizationId, ref), large), 0)
  t.is(ref.rows, 4)
  t.deepEqual(await fixture.keys('content.open'), [])
})

test('accept(): notifies its listener only after the message is durable', async (t) => {
  const fixture = await relaying(t)
  const order: string[] = []
  const found: Promise<unknown>[] = []
  fixture.kv.beforeWrite = ({ sets }) => void (sets.length > 1 && order.push('write'))
  fixture.onQueued = ({ traceId }) => {
    order.push('queued')
    found.push(fixture.trace(traceId))
  }
  await fixture.submit()
  t.deepEqual(order, ['write', 'queued'])
  const [trace] = await Promise.all(found)
  t.like(trace, { id: fixture.queued[0]?.traceId })
})

test('accept(): keeps the message if its listener fails', async (t) => {
  const fixture = await relaying(t)
  fixture.onQueued = () => {
    throw new Error('a defect')
  }
  const large = Buffer.alloc(600_000, 'x')
  await t.throwsAsync(fixture.submit({ content: large }), { message: 'a defect' })
  const [entry] = fixture.queued
  const { content: ref } = await fixture.trace(entry?.traceId ?? '')
  t.is((await readWholeContent(fixture.database, organizationId, ref)).length, 600_000)
})
