/** Which captures are in which inbox: patterns, addresses that are found later, and how long messages stay. */
import test, { type ExecutionContext } from 'ava'
import { captures } from '#core/capture/capture.ts'
import { parsePattern } from '#core/capture/inbox-pattern.ts'
import type { Since } from '#core/capture/inboxes/inboxes.ts'
import type { MessageReader, ReadMessage, WaitingMessage } from '#core/capture/reading/message-reader.ts'
import { houseOf, organizationId, projectId, quiet, principal, until, type House, type HouseOptions } from '../house.ts'
import { T } from '../../../daemon/composition/parts.ts'

const dayMs = 86_400_000
const never = new AbortController().signal

const document = { html: '', styles: '', root: {}, body: {} }
const nothing = { document, from: [], to: [], cc: [], bcc: [], replyTo: [], headers: [], text: '', html: '', attachments: [] }
const found: ReadMessage = { ...nothing, subject: 'hi', addressesSeen: ['body@example.org'] }

/** Finds one more address in every body. */
const findingReader: MessageReader = {
  read: async () => ({ ok: true, message: found }),
  expect: () => () => {},
  attachment: async () => undefined,
  async [Symbol.asyncDispose]() {},
}

async function housed(t: ExecutionContext, patterns: readonly string[], options: HouseOptions = {}): Promise<House> {
  const house = await houseOf(t, options)
  for (const [i, addressPattern] of patterns.entries()) await house.inbox({ id: `inb_${i}`, addressPattern })
  return house
}

async function captureTo(house: House, rcptTo: readonly string[]): Promise<string> {
  house.clock.advance(1000)
  await house.submit({ rcptTo, facts: { headerAddresses: ['shop@example.com'] } as never })
  await until('the body was read', async () => (await house.keys('capture.pending')).length === 0)
  return house.captured.at(-1)?.id ?? ''
}

const listed = async (house: House, inbox: string, address?: string): Promise<string[]> =>
  (await house.inboxes.messages(principal, inbox, { limit: 50, address })).rows.map(({ capture }) => capture.id)

test('patterns are *, @domain and one address, in one spelling whatever the letters of case', (t) => {
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

test('a capture is in every inbox whose pattern was seen or meant, and in no other', async (t) => {
  const house = await housed(t, ['*', '@example.net', 'anna@example.net', '@other.test', 'shop@example.com'])
  const both = await captureTo(house, ['Anna@Example.NET', 'ben@other.test'])
  const one = await captureTo(house, ['ben@example.net'])
  t.deepEqual(await listed(house, 'inb_0'), [one, both])
  t.deepEqual(await listed(house, 'inb_1'), [one, both])
  t.deepEqual(await listed(house, 'inb_2'), [both])
  t.deepEqual(await listed(house, 'inb_3'), [both])
  t.deepEqual(await listed(house, 'inb_4'), [one, both], 'the sender was seen')
  await t.throwsAsync(house.inboxes.message(principal, 'inb_3', one), { code: 'not_found' })
  t.is((await house.inboxes.message(principal, 'inb_3', both)).capture.id, both)
  const since = { captureId: both }
  t.deepEqual((await house.inboxes.messages(principal, 'inb_2', { limit: 5, since })).rows, [])
})

test('one address is searched across recipients, inside the inbox alone', async (t) => {
  const house = await housed(t, ['*', '@other.test'])
  const both = await captureTo(house, ['anna@example.net', 'ben@other.test'])
  const anna = await captureTo(house, ['anna@example.net'])
  t.deepEqual(await listed(house, 'inb_0', 'ANNA@example.net'), [anna, both])
  t.deepEqual(await listed(house, 'inb_0', '@other.test'), [both])
  t.deepEqual(await listed(house, 'inb_1', 'anna@example.net'), [both])
  t.deepEqual(await listed(house, 'inb_0', 'nobody@example.net'), [])
})

test('an address that only the body has brings the capture in, and wakes who waits for it once', async (t) => {
  const house = await housed(t, ['*', '@example.org'], { reader: findingReader })
  const wait = (inbox: string, signal = never) => house.inboxes.wait(principal, inbox, { timeoutMs: 30_000, signal })
  const waiting = wait('inb_1')
  await quiet(house)
  const id = await captureTo(house, ['anna@example.net'])
  t.is((await waiting)?.capture.id, id)
  t.deepEqual(await listed(house, 'inb_1'), [id])
})

test('an address that only the body has comes after what was in the inbox before it was found', async (t) => {
  const { promise: mayRead, resolve: read } = Promise.withResolvers<void>()
  const reader = { ...findingReader, read: async (message: WaitingMessage) => (await mayRead, findingReader.read(message)) }
  const house = await housed(t, ['@example.org', '*'], { reader })
  const inbox = (id: string, since?: Since) => house.inboxes.messages(principal, id, { limit: 9, since })
  const submit = async (to: string): Promise<string> => {
    house.clock.advance(1000)
    await house.submit({ rcptTo: [to], facts: { headerAddresses: [] } as never })
    return house.captured.at(-1)?.id ?? ''
  }
  const late = await submit('anna@example.net') // in the inbox by its body alone
  const first = await submit('bea@example.org')
  const ids = (page: Awaited<ReturnType<typeof inbox>>) => page.rows.map(({ capture }) => capture.id)
  t.deepEqual(ids(await inbox('inb_0')), [first])
  const told = house.clock.now()
  house.clock.advance(1000)
  const waiting = house.inboxes.wait(principal, 'inb_0', { since: { captureId: first }, timeoutMs: 30_000, signal: never })
  await until('it waits', () => house.captureEvents.waiting(projectId) === 1)
  read()
  t.is((await waiting)?.capture.id, late)
  await until('the bodies were read', async () => (await house.keys('capture.pending')).length === 0)
  t.deepEqual(ids(await inbox('inb_0', { captureId: first })), [late])
  t.is((await house.inboxes.wait(principal, 'inb_0', { since: { captureId: first }, timeoutMs: 1, signal: never }))?.capture.id, late)
  const next = await submit('bea@example.org')
  t.deepEqual(ids(await inbox('inb_0', { captureId: late })), [next])
  t.deepEqual(ids(await inbox('inb_0')), [next, late, first])
  t.deepEqual(ids(await inbox('inb_1', { captureId: late })), [first, next], 'the other inbox had it from the start')
  t.deepEqual(ids(await inbox('inb_0', { at: told })), [next], 'a time is compared with that of the capture')
  t.deepEqual(await house.problems(), [])
})

test('a message that was read late is gone from an inbox after its days, and hides none behind it', async (t) => {
  const house = await housed(t, [], { reader: findingReader })
  await house.inbox({ id: 'inb_short', addressPattern: '@example.org', retentionDays: 1 })
  await house.backgroundRead.stop()
  await house.submit({ facts: { headerAddresses: [] } as never })
  house.clock.advance(2 * dayMs)
  await house.submit({ rcptTo: ['bea@example.org'] })
  const young = house.captured.at(-1)?.id ?? ''
  const next = await house.crash()
  next.backgroundRead.wake()
  await until('the bodies were read', async () => (await next.keys('capture.pending')).length === 0)
  const seen: string[] = []
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await next.inboxes.messages(principal, 'inb_short', { limit: 1, cursor })
    seen.push(...page.rows.map(({ capture }) => capture.id))
    cursor = page.nextCursor
  }
  t.deepEqual(seen, [young])
  t.is((await next.inboxes.wait(principal, 'inb_short', { since: { at: 0 }, timeoutMs: 1, signal: never }))?.capture.id, young)
})

test('who begins to wait between a capture and the reading of its body does not get it as new', async (t) => {
  const { promise: mayRead, resolve: read } = Promise.withResolvers<void>()
  const reader = { ...findingReader, read: async (message: WaitingMessage) => (await mayRead, findingReader.read(message)) }
  const house = await housed(t, ['*'], { reader })
  await house.submit()
  let woken = false
  const caller = new AbortController()
  const waiting = house.inboxes.wait(principal, 'inb_0', { timeoutMs: 30_000, signal: caller.signal }).then((found) => (woken = !!found))
  await until('it waits', () => house.captureEvents.waiting(projectId) === 1)
  read()
  await until('the body was read', async () => (await house.keys('capture.pending')).length === 0)
  await quiet(house)
  caller.abort()
  await waiting
  t.false(woken)
})

test('a pattern is looked up in any letters of case, first in the own project', async (t) => {
  const house = await housed(t, ['*', '@example.net'])
  await house.project({ id: 'prj_2', isDefault: false })
  await house.inbox({ id: 'inb_far', projectId: 'prj_2', addressPattern: 'anna@example.net' })
  const find = async (...asked: Parameters<House['inboxes']['lookup']>) => (await house.inboxes.lookup(...asked))?.id
  t.is(await find(principal, '@EXAMPLE.net'), 'inb_1')
  t.is(await find(principal, 'Anna@example.NET'), 'inb_far')
  t.is(await find(principal, 'anna@example.net', projectId), undefined)
  t.is(await find({ ...principal, bound: true }, 'anna@example.net'), undefined)
  t.is(await find(principal, 'no pattern'), undefined)
  await t.throwsAsync(find({ ...principal, bound: true }, 'anna@example.net', 'prj_2'), { code: 'not_found' })
})

test('a message leaves an inbox after its days, and is removed when every inbox has let it go', async (t) => {
  const house = await housed(t, [])
  await house.inbox({ id: 'inb_all', retentionDays: 7 })
  await house.inbox({ id: 'inb_short', addressPattern: '@example.net', retentionDays: 1 })
  const old = await captureTo(house, ['anna@example.net'])
  house.clock.advance(2 * dayMs)
  const young = await captureTo(house, ['anna@example.net'])
  t.deepEqual(await listed(house, 'inb_short'), [young])
  t.deepEqual(await listed(house, 'inb_all'), [young, old])
  const page = await house.inboxes.messages(principal, 'inb_short', { limit: 1 })
  const rest = await house.inboxes.messages(principal, 'inb_short', { limit: 1, cursor: page.nextCursor })
  t.deepEqual([rest.rows, rest.nextCursor], [[], undefined])
  const since = { at: 0 }
  t.deepEqual((await house.inboxes.messages(principal, 'inb_short', { limit: 9, since })).rows.length, 1)
  t.is((await house.inboxes.wait(principal, 'inb_short', { since, timeoutMs: 1, signal: never }))?.capture.id, young)
  await t.throwsAsync(house.inboxes.message(principal, 'inb_short', old), { code: 'not_found' })
  const retention = house.part(T.Retention)
  const left = async () => (await house.database.all(captures, { organizationId })).map(({ record }) => record.id)
  t.is(await retention.round(), 0)
  t.deepEqual(await left(), [old, young])
  house.clock.advance(5 * dayMs)
  t.is(await retention.round(), 1)
  t.deepEqual(await left(), [young])
  t.deepEqual(await house.problems(), [])
})

test('a catch-all without days of its own keeps everything as long as the plan does', async (t) => {
  const house = await housed(t, ['*'])
  await house.inbox({ id: 'inb_short', addressPattern: '@example.net', retentionDays: 1 })
  await captureTo(house, ['anna@example.net'])
  house.clock.advance(30 * dayMs)
  const retention = house.part(T.Retention)
  t.is(await retention.round(), 0)
})
