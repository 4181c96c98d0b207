/** Virtual inboxes over real captures: lists, single messages, and the long poll. */
import test from '#test'
import { inboxes } from '#core/capture/capture.ts'
import type { CapturedMessage } from '#core/capture/inboxes/inboxes.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { WorkerMessageReader } from '#ingest/messages/message-reader.ts'
import { coreFixture, organizationId, projectId, principal, type CoreFixture, type CoreFixtureOptions } from '../core-fixture.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { FakeClock } from '../../support/fake-clock.ts'

async function capturing(t: Parameters<typeof coreFixture>[0], options: CoreFixtureOptions = {}): Promise<CoreFixture> {
  const fixture = await coreFixture(t, options)
  await fixture.inbox()
  return fixture
}

/** Captures `n` messages, a second apart, and returns their capture ids. */
async function captureSome(fixture: CoreFixture, n: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < n; i++) {
    fixture.clock.advance(1000)
    await fixture.submit({ content: `Subject: ${i}\r\n\r\nx` })
    ids.push(fixture.captured.at(-1)?.id ?? '')
  }
  return ids
}

const idsOf = (page: { readonly rows: readonly { readonly capture: { readonly id: string } }[] }): string[] =>
  page.rows.map(({ capture }) => capture.id)
const never = new AbortController().signal

test('list(): shows the project of a bound key, and refuses another one', async (t) => {
  const fixture = await capturing(t)
  await fixture.project({ id: 'prj_2', isDefault: false })
  await fixture.inbox({ id: 'inb_2', projectId: 'prj_2' })
  const list = async (asking: Principal, asked?: string) =>
    (await fixture.inboxes.list(asking, { limit: 10, projectId: asked })).rows.map(({ id }) => id).toSorted()
  t.deepEqual(await list(principal), ['inb_1', 'inb_2'])
  t.deepEqual(await list(principal, 'prj_2'), ['inb_2'])
  t.deepEqual(await list({ ...principal, bound: true }), ['inb_1'])
  t.deepEqual(await list({ ...principal, bound: true }, 'prj_1'), ['inb_1'])
  await t.throwsAsync(list({ ...principal, bound: true }, 'prj_2'), { code: 'not_found' })
})

test('get(): unknown and foreign ids get the same error', async (t) => {
  const fixture = await capturing(t)
  const gone = { code: 'not_found', message: 'No virtual inbox has this id.' }
  t.is((await fixture.inboxes.get(principal, 'inb_1')).addressPattern, '*')
  await t.throwsAsync(fixture.inboxes.get(principal, 'inb_9'), gone)
  await t.throwsAsync(fixture.inboxes.get({ ...principal, organizationId: 'org_2' }, 'inb_1'), gone)
  await t.throwsAsync(fixture.inboxes.get({ ...principal, bound: true, projectId: 'prj_2' }, 'inb_1'), gone)
})

test('messages(): pages through all messages once, newest first', async (t) => {
  const fixture = await capturing(t)
  const ids = await captureSome(fixture, 7)
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await fixture.inboxes.messages(principal, 'inb_1', { limit: 3, cursor })
    t.true(page.rows.length <= 3)
    t.true(page.rows.every(({ capture, trace }) => capture.traceId === trace.id))
    seen.push(...idsOf(page))
    cursor = page.nextCursor
    if (seen.length === 3) await captureSome(fixture, 1) // later captures do not affect the walk
  } while (cursor !== undefined)
  t.deepEqual(seen, ids.toReversed())
})

test('messages(): after a time or a message, in order of arrival', async (t) => {
  const fixture = await capturing(t)
  const ids = await captureSome(fixture, 6)
  const after = async (since: { at: number } | { captureId: string }, cursor?: string) => {
    const page = await fixture.inboxes.messages(principal, 'inb_1', { limit: 2, since, cursor })
    return { ids: idsOf(page), cursor: page.nextCursor }
  }
  for (const since of [{ at: startOfTime + 2000 }, { captureId: ids[1] ?? '' }]) {
    const first = await after(since)
    t.deepEqual(first.ids, ids.slice(2, 4))
    const second = await after(since, first.cursor)
    t.deepEqual(second.ids, ids.slice(4, 6))
    t.is(second.cursor, undefined)
  }
  t.deepEqual((await after({ at: startOfTime + 2999 })).ids, ids.slice(2, 4))
  t.deepEqual((await after({ at: -1 })).ids, ids.slice(0, 2))
  t.deepEqual((await after({ at: 8.64e15 })).ids, [])
  t.deepEqual((await after({ captureId: ids[5] ?? '' })).ids, [])
  await Promise.all(Array.from({ length: 30 }, () => fixture.submit()))
  const [first = '', ...rest] = fixture.captured.slice(6).map(({ id }) => id)
  t.is(
    (await fixture.inboxes.messages(principal, 'inb_1', { limit: 100, since: { captureId: first } })).rows.length,
    rest.length,
    'of one millisecond',
  )
})

test('inbox: contains only captures of its project', async (t) => {
  const fixture = await capturing(t)
  await fixture.project({ id: 'prj_2', isDefault: false })
  await fixture.inbox({ id: 'inb_2', projectId: 'prj_2' })
  await fixture.submit({ projectId: 'prj_2' })
  await fixture.submit()
  const [there, here] = fixture.captured
  t.deepEqual(idsOf(await fixture.inboxes.messages(principal, 'inb_1', { limit: 9 })), [here?.id ?? ''])
  await t.throwsAsync(fixture.inboxes.message(principal, 'inb_1', there?.id ?? ''), {
    code: 'not_found',
    message: 'No message of this inbox has this id.',
  })
  await t.throwsAsync(fixture.inboxes.raw(principal, 'inb_1', 'cap_9'), { code: 'not_found' })
  await t.throwsAsync(fixture.inboxes.raw({ ...principal, bound: true, projectId: 'prj_2' }, 'inb_1', here?.id ?? ''), {
    code: 'not_found',
  })
})

test('message(), raw(), attachment(): show the submitted message with the real reader', async (t) => {
  const reader = new WorkerMessageReader(new FakeClock())
  t.teardown(() => reader[Symbol.asyncDispose]())
  const fixture = await capturing(t, { reader })
  const content = [
    'From: Shop <shop@example.com>',
    'To: anna@example.net',
    'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/html',
    '',
    '<p onclick="x()">Write to body@example.org</p><script>alert(1)</script>',
    '--b',
    'Content-Type: text/plain; name=a.txt',
    'Content-Disposition: attachment; filename=a.txt',
    '',
    'attached',
    '--b--',
    '',
  ].join('\r\n')
  const prefix = 'Received: from x by y; z\r\n'
  await fixture.submit({ content, facts: { prefix, subject: '=?utf-8?Q?Gr=C3=BC=C3=9Fe?=' } as never })
  const id = fixture.captured[0]?.id ?? ''
  const { size, pieces } = await fixture.inboxes.raw(principal, 'inb_1', id)
  t.is(Buffer.concat(await Array.fromAsync(pieces)).toString(), prefix + content)
  t.is(size, (prefix + content).length)
  const { capture, trace, read } = await fixture.inboxes.message(principal, 'inb_1', id)
  t.is(capture.traceId, trace.id)
  if (!read.ok) return t.fail(read.unreadable)
  t.is(read.message.subject, 'Grüße')
  t.is(read.message.headers[0]?.name, 'Received')
  t.false(/script|onclick/.test(read.message.html))
  t.like(read.message.attachments[0], { filename: 'a.txt', size: 8 })
  t.is(Buffer.from(await fixture.inboxes.attachment(principal, 'inb_1', id, 0)).toString(), 'attached')
  await t.throwsAsync(fixture.inboxes.attachment(principal, 'inb_1', id, 1), {
    code: 'not_found',
    message: 'The message has no such attachment.',
  })
  await fixture.backgroundRead.idle()
  const again = await fixture.inboxes.message(principal, 'inb_1', id)
  t.true(again.capture.addressesSeen.includes('body@example.org'))
})

test('wait(): returns the next capture, and no earlier one', async (t) => {
  const fixture = await capturing(t)
  await captureSome(fixture, 2)
  let answer: CapturedMessage | undefined
  const waiting = fixture.inboxes.wait(principal, 'inb_1', { timeoutMs: 30_000, signal: never }).then((found) => (answer = found))
  await fixture.settled()
  t.is(answer, undefined)
  const [id] = await captureSome(fixture, 1)
  await waiting
  t.is(answer?.capture.id, id)
  t.is(fixture.captureEvents.waiting(projectId), 0)
})

test('wait(): with since, returns the oldest existing capture immediately', async (t) => {
  const fixture = await capturing(t)
  const ids = await captureSome(fixture, 4)
  const wait = async (since: { at: number } | { captureId: string }) =>
    (await fixture.inboxes.wait(principal, 'inb_1', { since, timeoutMs: 30_000, signal: never }))?.capture.id
  t.is(await wait({ at: startOfTime }), ids[0])
  t.is(await wait({ at: startOfTime + 2000 }), ids[2])
  t.is(await wait({ captureId: ids[2] ?? '' }), ids[3])
  const next = wait({ captureId: ids[3] ?? '' })
  await fixture.settled()
  const [fifth] = await captureSome(fixture, 1)
  t.is(await next, fifth)
})

test('wait(): misses no capture that arrives during its first read', async (t) => {
  const fixture = await capturing(t)
  const [first = ''] = await captureSome(fixture, 1)
  for (let i = 0; i < 20; i++) {
    const since = { captureId: fixture.captured.at(-1)?.id ?? first }
    const waiting = fixture.inboxes.wait(principal, 'inb_1', { since, timeoutMs: 30_000, signal: never })
    for (let mutex = i % 5; mutex > 0; mutex--) await Promise.resolve()
    await fixture.submit()
    t.is((await waiting)?.capture.id, fixture.captured.at(-1)?.id)
  }
})

test('wait(): misses no later durable capture, also after a clock set back', async (t) => {
  const fixture = await capturing(t)
  const get = fixture.kv.get.bind(fixture.kv)
  const held = Promise.withResolvers<void>()
  const looking = Promise.withResolvers<void>()
  fixture.kv.get = async (key) => {
    if (!Buffer.from(key).includes('idempotency')) return get(key)
    looking.resolve()
    await held.promise
    return get(key)
  }
  const slow = fixture.submit({ idempotencyKey: 'slow' })
  await looking.promise
  const [quick = ''] = await captureSome(fixture, 1)
  const after = (id: string) => fixture.inboxes.wait(principal, 'inb_1', { since: { captureId: id }, timeoutMs: 30_000, signal: never })
  const waiting = after(quick)
  held.resolve()
  const { traceId } = await slow
  t.is((await waiting)?.capture.traceId, traceId)
  const late = (await after(quick))?.capture.id ?? ''
  t.is((await fixture.inboxes.message(principal, 'inb_1', late)).capture.traceId, traceId)
  fixture.clock.step(-3600_000)
  const earlier = await captureSome(fixture, 3)
  const page = await fixture.inboxes.messages(principal, 'inb_1', { limit: 10, since: { captureId: late } })
  t.deepEqual(idsOf(page), earlier)
  t.deepEqual(idsOf(await fixture.inboxes.messages(principal, 'inb_1', { limit: 10 })), [quick, late, ...earlier].toReversed())
})

test('wait(): ends on timeout or disconnect, and leaves nothing behind', async (t) => {
  const fixture = await capturing(t)
  let over = false
  const late = fixture.inboxes.wait(principal, 'inb_1', { timeoutMs: 30_000, signal: never }).finally(() => (over = true))
  await fixture.settled()
  fixture.clock.advance(29_999)
  await fixture.settled()
  t.false(over)
  fixture.clock.advance(1)
  t.is(await late, undefined)

  const caller = new AbortController()
  const left = fixture.inboxes.wait(principal, 'inb_1', { timeoutMs: 30_000, signal: caller.signal })
  await fixture.settled()
  caller.abort()
  t.is(await left, undefined)
  t.is(await fixture.inboxes.wait(principal, 'inb_1', { timeoutMs: 30_000, signal: caller.signal }), undefined)
  t.is(fixture.captureEvents.waiting(projectId), 0)
  t.is(fixture.clock.pending, 0)
})

test('wait(): ignores captures of other projects', async (t) => {
  const fixture = await capturing(t)
  await fixture.project({ id: 'prj_2', isDefault: false })
  const waiting = fixture.inboxes.wait(principal, 'inb_1', { timeoutMs: 1000, signal: never })
  await fixture.settled()
  await fixture.submit({ projectId: 'prj_2' })
  await fixture.settled()
  fixture.clock.advance(1000)
  t.is(await waiting, undefined)
  await t.throwsAsync(fixture.inboxes.wait({ ...principal, bound: true, projectId: 'prj_2' }, 'inb_1', { timeoutMs: 1, signal: never }), {
    code: 'not_found',
  })
})

test('wait(): allows 20 open waits per key and 200 per project', async (t) => {
  const fixture = await capturing(t)
  const caller = new AbortController()
  const wait = (grantId: string) =>
    fixture.inboxes.wait({ ...principal, credentialId: grantId }, 'inb_1', { timeoutMs: 30_000, signal: caller.signal })
  const waits: Promise<unknown>[] = []
  for (let key = 0; key < 10; key++) for (let i = 0; i < 20; i++) waits.push(wait(`key_${key}`))
  await fixture.settled()
  t.is(fixture.captureEvents.waiting(projectId), 200, 'all wait')
  await t.throwsAsync(wait('key_0'), {
    code: 'rate_limit_exceeded',
    message: 'At most 20 waits per key and 200 per project can be open at a time.',
  })
  await t.throwsAsync(wait('key_new'), { code: 'rate_limit_exceeded' })
  caller.abort()
  await Promise.all(waits)
  const again = new AbortController()
  const one = fixture.inboxes.wait(principal, 'inb_1', { timeoutMs: 1, signal: again.signal })
  await fixture.settled()
  again.abort()
  t.is(await one, undefined)
})

test('inboxes: captures survive the end of the process', async (t) => {
  const fixture = await capturing(t)
  const ids = await captureSome(fixture, 3)
  const next = await fixture.crash()
  t.deepEqual(idsOf(await next.inboxes.messages(principal, 'inb_1', { limit: 10 })), ids.toReversed())
  t.is((await next.database.all(inboxes, { organizationId })).length, 1)
})
