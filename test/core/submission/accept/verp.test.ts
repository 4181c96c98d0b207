/** Conditions and validity of VERP return paths. */
import test, { type ExecutionContext } from '#test'
import { suppressions } from '#core/feedback/suppression/suppression.ts'
import type { Submission } from '#core/submission/submission.ts'
import { type Organization } from '#core/tenancy/organization.ts'
import { recipientOfVerp } from '#core/trace/return-paths.ts'
import { traces } from '#core/trace/trace.ts'
import { startOfTime } from '../../../support/fake-clock.ts'
import { organizationId, principal, secrets, type CoreFixture, type CoreFixtureOptions, relayingFixture } from '../../core-fixture.ts'
import { ScriptedTransport, take } from '../../scripted-transport.ts'
import { column } from '../../../support/column.ts'

const day = 24 * 3_600_000
const two = ['anna@example.net', 'ben@example.net']
const asked = { verp: { bounceDomain: null } } as const

const routed = (t: ExecutionContext, options: CoreFixtureOptions = {}): Promise<CoreFixture> =>
  relayingFixture(t, { deaf: true, ...options })

async function traceOf(fixture: CoreFixture, changes: Partial<Submission> = {}) {
  const { traceId } = await fixture.submit({ rcptTo: two, ...asked, ...changes })
  return fixture.trace(traceId)
}

const pathsOf = ({ recipients }: { readonly recipients: readonly { readonly verp?: string | undefined }[] }): string[] =>
  recipients.flatMap(({ verp }) => verp ?? [])

test('VERP: return paths are at the domain of the service, or at the requested domain', async (t) => {
  const fixture = await routed(t)
  const ours = await traceOf(fixture)
  t.deepEqual(ours.verp, { domain: 'bounces.postern.test' })
  const other = await traceOf(fixture, { verp: { bounceDomain: 'b.example.ch' } })
  t.deepEqual(other.verp, { domain: 'b.example.ch' })
  t.deepEqual(
    [...pathsOf(ours), ...pathsOf(other)].map((path) => path.replace(/^.{22}/, '')),
    ['@bounces.postern.test', '@bounces.postern.test', '@b.example.ch', '@b.example.ch'],
  )
  for (const trace of [ours, other])
    for (const { address, verp = '' } of trace.recipients)
      t.deepEqual(await recipientOfVerp(fixture.database, secrets, verp), { organizationId, traceId: trace.id, address })
  t.is(ours.mailFrom, 'shop@example.com', 'the submitted address stays')
  t.is(await recipientOfVerp(fixture.database, secrets, 'shop@example.com'), undefined)
  await fixture.assertSound(t)
})

test('VERP: no return paths without a request', async (t) => {
  const fixture = await routed(t)
  const trace = await traceOf(fixture, { verp: undefined })
  t.is(trace.verp, undefined)
  t.deepEqual(await fixture.keys('verp'), [])
})

const offs: readonly [
  string,
  Partial<Organization>,
  Partial<Submission>,
  CoreFixtureOptions,
  { readonly code: string; readonly off: string },
][] = [
  ['the plan', { plan: 'free' }, {}, {}, { code: 'plan', off: 'the plan free does not include it' }],
  ['the flag', { flags: { verp: false } }, {}, {}, { code: 'flag', off: 'it is turned off for this organization' }],
  ['a null reverse-path', {}, { mailFrom: '' }, {}, { code: 'null_sender', off: 'the message has the null reverse-path' }],
  ['a missing domain', {}, {}, { bounceDomain: null }, { code: 'no_domain', off: 'the service has no bounce domain' }],
]
for (const [what, changes, submission, options, off] of offs) {
  test(`VERP: accepts the message without return paths because of ${what}, and records it`, async (t) => {
    const fixture = await routed(t, options)
    await fixture.organization({ plan: 'pro', ...changes })
    const trace = await traceOf(fixture, submission)
    t.deepEqual(trace.verp, off)
    t.deepEqual(pathsOf(trace), [])
    t.deepEqual(await fixture.keys('verp'), [])
    t.true((await fixture.details(trace.id)).includes(`verp: VERP was requested but is not used: ${off.off}.`))
  })
}

test('VERP: captured messages and suppressed recipients get no return path', async (t) => {
  const fixture = await routed(t)
  await fixture.put(suppressions, {
    ...{ id: 'sup_1', email: 'ben@example.net', source: 'manual', reason: null, expiresAt: null, createdAt: startOfTime },
  } as never)
  const trace = await traceOf(fixture)
  t.deepEqual(
    trace.recipients.map(({ status, verp }) => [status, verp !== undefined]),
    [
      ['queued', true],
      ['suppressed', false],
    ],
  )
  await fixture.destination({ mode: 'sandbox' })
  const captured = await traceOf(fixture)
  t.is(captured.status, 'captured')
  t.is(captured.verp, undefined)
  t.deepEqual(pathsOf(captured), [])
})

test('VERP: follows the current credential, and MAIL FROM follows its whitelist', async (t) => {
  const fixture = await routed(t)
  const credential = await fixture.credential('right', { allowedFromDomains: ['example.com'], verpEnabled: true })
  const live = await fixture.door.login('cms-user', 'right', '192.0.2.1')
  t.throws(() => live.checkMailFrom('x@bounces.postern.test'), { code: 'sender_not_allowed' })
  const submit = async () => {
    const content = Buffer.from('From: shop@example.com\r\nSubject: hi\r\n\r\nhello\r\n')
    const draft = live.openDraft()
    await draft.write(content)
    const session = { helo: 'cms.example', remoteAddress: '192.0.2.1', protocol: 'ESMTPSA', eightBit: false } as const
    const { traceId } = await live.submit({ mailFrom: 'shop@example.com', rcptTo: two, draft, head: content, ...session })
    return fixture.trace(traceId)
  }
  t.is(pathsOf(await submit()).length, 2)
  await fixture.organization({ plan: 'free' })
  t.deepEqual((await submit()).verp, { code: 'plan', off: 'the plan free does not include it' }, 'the current plan applies')
  await fixture.organization({ plan: 'pro' })
  await fixture.credential('right', { ...credential, verpBounceDomain: 'b.example.ch' })
  t.deepEqual((await submit()).verp, { domain: 'b.example.ch' })
  await fixture.credential('right', { ...credential, verpEnabled: false })
  t.is((await submit()).verp, undefined)
})

test('VERP: a return path resolves for 30 days from the time of sending', async (t) => {
  const fixture = await routed(t)
  const [now, later] = [await traceOf(fixture), await traceOf(fixture, { sendAt: startOfTime + 2 * day })]
  const found = async (): Promise<number[]> => {
    const hits = [now, later].map(async (trace) =>
      Promise.all(pathsOf(trace).map((path) => recipientOfVerp(fixture.database, secrets, path))),
    )
    return (await Promise.all(hits)).map((rows) => rows.filter((row) => row?.traceId).length)
  }
  await fixture.database.sweep(startOfTime + 30 * day)
  t.deepEqual(await found(), [2, 2])
  await fixture.database.sweep(startOfTime + 30 * day + 1)
  t.deepEqual(await found(), [0, 2])
  await fixture.database.sweep(startOfTime + 32 * day + 1)
  t.deepEqual(await found(), [0, 0])
  t.deepEqual(await fixture.keys('verp'), [])
})

test('VERP: a replay uses the same return paths and extends their validity', async (t) => {
  const transport = new ScriptedTransport((call) => take(call, call.nth < 3 ? { 'ben@example.net': 'permanent' } : 'accepted'))
  const fixture = await routed(t, { transport, deaf: false })
  const { id } = await traceOf(fixture)
  await fixture.settled()
  t.is(fixture.attempted.length, 1, 'failed')
  const [first, again] = pathsOf(await fixture.trace(id))
  fixture.clock.advance(20 * day)
  await fixture.core.replays.create(principal, { filter: {}, includeUnknown: false })
  await fixture.settled()
  t.is(fixture.attempted.length, 2, 'sent')
  t.deepEqual(column(transport.calls, 'job', 'mailFrom'), [first, again, again])
  await fixture.database.sweep(startOfTime + 49 * day)
  t.is(await recipientOfVerp(fixture.database, secrets, first ?? ''), undefined)
  t.like(await recipientOfVerp(fixture.database, secrets, again ?? ''), { traceId: id, address: 'ben@example.net' })
  await fixture.database.sweep(startOfTime + 51 * day)
  t.is(await recipientOfVerp(fixture.database, secrets, again ?? ''), undefined)
})

test('VERP: verify() reports a return path without its message', async (t) => {
  const fixture = await routed(t)
  const { id } = await traceOf(fixture, { rcptTo: ['anna@example.net'] })
  await fixture.remove(traces, id)
  const problems = await fixture.problems()
  t.true(
    problems.some((problem) => problem.includes(`the trace ${id} that it belongs to is missing`) && problem.includes('verp')),
    problems.join('\n'),
  )
})
