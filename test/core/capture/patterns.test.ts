/** Inboxes of captures: patterns, addresses found later, and retention. */
import test, { type ExecutionContext } from '#test'
import { traces } from '#core/trace/trace.ts'
import { parsePattern } from '#core/capture/inbox-pattern.ts'
import type { Since } from '#core/capture/inboxes/inboxes.ts'
import type { MessageReader, ReadMessage, WaitingMessage } from '#core/capture/reading/message-reader.ts'
import { coreFixture, organizationId, projectId, principal, type CoreFixture, type CoreFixtureOptions } from '../core-fixture.ts'

const dayMs = 86_400_000
const never = new AbortController().signal

const document = { html: '', styles: '', root: {}, body: {} }
const nothing = { document, from: [], to: [], cc: [], bcc: [], replyTo: [], headers: [], text: '', html: '', attachments: [] }
const found: ReadMessage = { ...nothing, subject: 'hi', notes: [], addressesSeen: ['body@example.org'] }

/** Finds one more address in every body. */
const findingReader: MessageReader = {
  read: async () => ({ ok: true, message: found }),
  expect: () => () => {},
  attachment: async () => undefined,
  async [Symbol.asyncDispose]() {},
}

async function fixtureWith(t: ExecutionContext, patterns: readonly string[], options: CoreFixtureOptions = {}): Promise<CoreFixture> {
  const fixture = await coreFixture(t, options)
  for (const [i, addressPattern] of patterns.entries()) await fixture.inbox({ id: `inb_${i}`, addressPattern })
  return fixture
}

async function captureTo(fixture: CoreFixture, rcptTo: readonly string[]): Promise<string> {
  fixture.clock.advance(1000)
  await fixture.submit({ rcptTo, facts: { headerAddresses: ['shop@example.com'] } as never })
  await fixture.backgroundRead.idle()
  return fixture.captured.at(-1)?.id ?? ''
}

const listed = async (fixture: CoreFixture, inbox: string, address?: string): Promise<string[]> =>
  (await fixture.inboxes.messages(principal, inbox, { limit: 50, address })).rows.map(({ capture }) => capture.id)

test('patterns: *, @domain and one address, normalized to one case', (t) => {
  const spelled = [
    ['*', '*'],
    ['@Example.NET', '@example.net'],
    ['@bücher.example', '@xn--bcher-kva.example'],
    ['Anna.Muster@Example.net', 'anna.muster@example.net'],
  ] as const
  for (const [given, kept] of spelled) t.is(parsePattern(given), kept)
  for (const none of ['', '@', '**', 'anna', 'a b@c.d', '@x y', 'anna@', '*@example.net', 'Anna <anna@example.net>', '@a@b'])
    t.is(parsePattern(none), undefined, none)
})

test('patterns: a capture is in exactly the inboxes of its seen or intended addresses', async (t) => {
  const fixture = await fixtureWith(t, ['*', '@example.net', 'anna@example.net', '@other.test', 'shop@example.com'])
  const both = await captureTo(fixture, ['Anna@Example.NET', 'ben@other.test'])
  const one = await captureTo(fixture, ['ben@example.net'])
  t.deepEqual(await listed(fixture, 'inb_0'), [one, both])
  t.deepEqual(await listed(fixture, 'inb_1'), [one, both])
  t.deepEqual(await listed(fixture, 'inb_2'), [both])
  t.deepEqual(await listed(fixture, 'inb_3'), [both])
  t.deepEqual(await listed(fixture, 'inb_4'), [one, both], 'the sender was seen')
  await t.throwsAsync(fixture.inboxes.message(principal, 'inb_3', one), { code: 'not_found' })
  t.is((await fixture.inboxes.message(principal, 'inb_3', both)).capture.id, both)
  const since = { captureId: both }
  t.deepEqual((await fixture.inboxes.messages(principal, 'inb_2', { limit: 5, since })).rows, [])
})

test('address filter: searches one address within the inbox', async (t) => {
  const fixture = await fixtureWith(t, ['*', '@other.test'])
  const both = await captureTo(fixture, ['anna@example.net', 'ben@other.test'])
  const anna = await captureTo(fixture, ['anna@example.net'])
  t.deepEqual(await listed(fixture, 'inb_0', 'ANNA@example.net'), [anna, both])
  t.deepEqual(await listed(fixture, 'inb_0', '@other.test'), [both])
  t.deepEqual(await listed(fixture, 'inb_1', 'anna@example.net'), [both])
  t.deepEqual(await listed(fixture, 'inb_0', 'nobody@example.net'), [])
})

test('body address: adds the capture to its inbox, and notifies waiting callers once', async (t) => {
  const fixture = await fixtureWith(t, ['*', '@example.org'], { reader: findingReader })
  const wait = (inbox: string, signal = never) => fixture.inboxes.wait(principal, inbox, { timeoutMs: 30_000, signal })
  const waiting = wait('inb_1')
  await fixture.settled()
  const id = await captureTo(fixture, ['anna@example.net'])
  t.is((await waiting)?.capture.id, id)
  t.deepEqual(await listed(fixture, 'inb_1'), [id])
})

test('body address: the capture follows messages already in the inbox', async (t) => {
  const { promise: mayRead, resolve: read } = Promise.withResolvers<void>()
  const reader = { ...findingReader, read: async (message: WaitingMessage) => (await mayRead, findingReader.read(message)) }
  const fixture = await fixtureWith(t, ['@example.org', '*'], { reader })
  const inbox = (id: string, since?: Since) => fixture.inboxes.messages(principal, id, { limit: 9, since })
  const submit = async (to: string): Promise<string> => {
    fixture.clock.advance(1000)
    await fixture.submit({ rcptTo: [to], facts: { headerAddresses: [] } as never })
    return fixture.captured.at(-1)?.id ?? ''
  }
  const late = await submit('anna@example.net') // in the inbox only by its body
  const first = await submit('bea@example.org')
  const ids = (page: Awaited<ReturnType<typeof inbox>>) => page.rows.map(({ capture }) => capture.id)
  t.deepEqual(ids(await inbox('inb_0')), [first])
  const told = fixture.clock.now()
  fixture.clock.advance(1000)
  const waiting = fixture.inboxes.wait(principal, 'inb_0', { since: { captureId: first }, timeoutMs: 30_000, signal: never })
  await fixture.settled()
  t.is(fixture.captureEvents.waiting(projectId), 1, 'it waits')
  read()
  t.is((await waiting)?.capture.id, late)
  await fixture.backgroundRead.idle()
  t.deepEqual(ids(await inbox('inb_0', { captureId: first })), [late])
  t.is((await fixture.inboxes.wait(principal, 'inb_0', { since: { captureId: first }, timeoutMs: 1, signal: never }))?.capture.id, late)
  const next = await submit('bea@example.org')
  t.deepEqual(ids(await inbox('inb_0', { captureId: late })), [next])
  t.deepEqual(ids(await inbox('inb_0')), [next, late, first])
  t.deepEqual(ids(await inbox('inb_1', { captureId: late })), [first, next], 'the other inbox had it from the start')
  t.deepEqual(ids(await inbox('inb_0', { at: told })), [next], 'the time is that of the capture')
  await fixture.assertSound(t)
})

test('retention: a message read late leaves the inbox on time, and hides no later one', async (t) => {
  const fixture = await fixtureWith(t, [], { reader: findingReader })
  await fixture.inbox({ id: 'inb_short', addressPattern: '@example.org', retentionDays: 1 })
  await fixture.backgroundRead.stop()
  await fixture.submit({ facts: { headerAddresses: [] } as never })
  fixture.clock.advance(2 * dayMs)
  await fixture.submit({ rcptTo: ['bea@example.org'] })
  const young = fixture.captured.at(-1)?.id ?? ''
  const next = await fixture.crash()
  next.backgroundRead.wake()
  await next.backgroundRead.idle()
  const seen: string[] = []
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await next.inboxes.messages(principal, 'inb_short', { limit: 1, cursor })
    seen.push(...page.rows.map(({ capture }) => capture.id))
    cursor = page.nextCursor
  }
  t.deepEqual(seen, [young])
  t.is((await next.inboxes.wait(principal, 'inb_short', { since: { at: 0 }, timeoutMs: 1, signal: never }))?.capture.id, young)
})

test('wait(): a capture read after the wait began is not new if captured earlier', async (t) => {
  const { promise: mayRead, resolve: read } = Promise.withResolvers<void>()
  const reader = { ...findingReader, read: async (message: WaitingMessage) => (await mayRead, findingReader.read(message)) }
  const fixture = await fixtureWith(t, ['*'], { reader })
  await fixture.submit()
  let woken = false
  const caller = new AbortController()
  const waiting = fixture.inboxes.wait(principal, 'inb_0', { timeoutMs: 30_000, signal: caller.signal }).then((found) => (woken = !!found))
  await fixture.settled()
  t.is(fixture.captureEvents.waiting(projectId), 1, 'it waits')
  read()
  await fixture.backgroundRead.idle()
  await fixture.settled()
  caller.abort()
  await waiting
  t.false(woken)
})

test('lookup(): ignores case, and prefers the own project', async (t) => {
  const fixture = await fixtureWith(t, ['*', '@example.net'])
  await fixture.project({ id: 'prj_2', isDefault: false })
  await fixture.inbox({ id: 'inb_far', projectId: 'prj_2', addressPattern: 'anna@example.net' })
  const find = async (...asked: Parameters<CoreFixture['inboxes']['lookup']>) => (await fixture.inboxes.lookup(...asked))?.id
  t.is(await find(principal, '@EXAMPLE.net'), 'inb_1')
  t.is(await find(principal, 'Anna@example.NET'), 'inb_far')
  t.is(await find(principal, 'anna@example.net', projectId), undefined)
  t.is(await find({ ...principal, bound: true }, 'anna@example.net'), undefined)
  t.is(await find(principal, 'no pattern'), undefined)
  await t.throwsAsync(find({ ...principal, bound: true }, 'anna@example.net', 'prj_2'), { code: 'not_found' })
})

/** Counts range reads, and the maximum of concurrent ones. */
function countRanges({ kv }: CoreFixture): { total: number; atOnce: number } {
  const range = kv.range.bind(kv)
  const seen = { total: 0, atOnce: 0 }
  let now = 0
  kv.range = async function* (wanted) {
    seen.total++
    seen.atOnce = Math.max(seen.atOnce, ++now)
    try {
      yield* range(wanted)
    } finally {
      now--
    }
  }
  return seen
}

test('lookup(): does not read all inboxes of the organization', async (t) => {
  const fixture = await fixtureWith(t, ['*', '@example.net'])
  for (const id of ['prj_2', 'prj_3']) {
    await fixture.project({ id, isDefault: false })
    await fixture.inbox({ id: `inb_of_${id}`, projectId: id, addressPattern: 'anna@example.net' })
  }
  const lookup = async () => (await fixture.inboxes.lookup(principal, 'anna@example.net'))?.id
  t.is(await lookup(), 'inb_of_prj_2', 'the oldest of several')
  const ranges = countRanges(fixture)
  t.is(await lookup(), 'inb_of_prj_2')
  t.is(ranges.total, 0)
})

test('figures(): reads several inboxes concurrently', async (t) => {
  const fixture = await fixtureWith(t, ['*', '@example.net', '@example.org'])
  await captureTo(fixture, ['anna@example.net'])
  const ranges = countRanges(fixture)
  const { rows } = await fixture.inboxes.figures(principal, { limit: 10 })
  t.deepEqual(
    rows.map(({ inboxId, messages }) => `${inboxId} ${messages}`),
    ['inb_2 0', 'inb_1 1', 'inb_0 1'],
  )
  t.is(ranges.atOnce, 3)
})

test('retention: a message leaves an inbox on time, and is deleted after all inboxes', async (t) => {
  const fixture = await fixtureWith(t, [])
  await fixture.inbox({ id: 'inb_all', retentionDays: 7 })
  await fixture.inbox({ id: 'inb_short', addressPattern: '@example.net', retentionDays: 1 })
  const old = await captureTo(fixture, ['anna@example.net'])
  fixture.clock.advance(2 * dayMs)
  const young = await captureTo(fixture, ['anna@example.net'])
  t.deepEqual(await listed(fixture, 'inb_short'), [young])
  t.deepEqual(await listed(fixture, 'inb_all'), [young, old])
  const page = await fixture.inboxes.messages(principal, 'inb_short', { limit: 1 })
  const rest = await fixture.inboxes.messages(principal, 'inb_short', { limit: 1, cursor: page.nextCursor })
  t.deepEqual([rest.rows, rest.nextCursor], [[], undefined])
  const since = { at: 0 }
  t.deepEqual((await fixture.inboxes.messages(principal, 'inb_short', { limit: 9, since })).rows.length, 1)
  t.is((await fixture.inboxes.wait(principal, 'inb_short', { since, timeoutMs: 1, signal: never }))?.capture.id, young)
  await t.throwsAsync(fixture.inboxes.message(principal, 'inb_short', old), { code: 'not_found' })
  const retention = fixture.part('retention')
  const left = async () => (await fixture.database.all(traces, { organizationId })).map(({ record }) => record.capture?.id ?? '')
  t.is(await retention.round(), 0)
  t.deepEqual(await left(), [old, young])
  fixture.clock.advance(5 * dayMs)
  t.is(await retention.round(), 1)
  t.deepEqual(await left(), [young])
  await fixture.assertSound(t)
})

test('retention: a catch-all without its own retention follows the plan', async (t) => {
  const fixture = await fixtureWith(t, ['*'])
  await fixture.inbox({ id: 'inb_short', addressPattern: '@example.net', retentionDays: 1 })
  await captureTo(fixture, ['anna@example.net'])
  fixture.clock.advance(30 * dayMs)
  const retention = fixture.part('retention')
  t.is(await retention.round(), 0)
})
