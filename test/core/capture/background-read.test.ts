/** Background reading of captured bodies for addresses: once each, also after crashes. */
import test from '#test'
import { pendingReadKey } from '#core/capture/reading/pending-read.ts'
import { carryReadings, ReadMarks, readMarkKey } from '#core/capture/reading/read-marks.ts'
import { projects } from '#core/tenancy/organization.ts'
import { usageCounter } from '#core/tenancy/counters.ts'
import { traces } from '#core/trace/trace.ts'
import { transact } from '#core/writes/transact.ts'
import { Change } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { pack } from '#store/tuple.ts'
import { coreFixture, organizationId, projectId, principal, type CoreFixture } from '../core-fixture.ts'
import { NoReader } from '../no-parsers.ts'

/** Number of pending rows of unread messages. */
const passedOver = async (fixture: CoreFixture): Promise<number> => (await fixture.keys('capture.pending')).length
/** Returns the total number of notifications; each is counted in the write that decides it. */
async function notified(fixture: CoreFixture): Promise<number> {
  const month = new Date(fixture.clock.now()).toISOString().slice(0, 7)
  const counts = [projectId, 'prj_2'].map((id) => fixture.kv.counter(pack(usageCounter(organizationId, 'vi_notifies', month, id))))
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}
const seen = async (fixture: CoreFixture): Promise<string[][]> =>
  (await fixture.database.all(traces, { organizationId })).map(({ record }) => [...(record.capture?.addressesSeen ?? [])])

test('BackgroundRead: adds body addresses to header and envelope addresses', async (t) => {
  const reader = new NoReader()
  reader.addresses = ['body@example.org', 'anna@example.net']
  const fixture = await coreFixture(t, { reader })
  await fixture.submit()
  await fixture.backgroundRead.idle()
  t.deepEqual(await seen(fixture), [['anna@example.net', 'body@example.org', 'shop@example.com']])
  t.is(reader.reads, 1)
})

test('BackgroundRead: continues the work of an earlier process', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.backgroundRead.stop()
  for (let i = 0; i < 30; i++) await fixture.submit()
  const reader = new NoReader()
  reader.addresses = ['body@example.org']
  const next = await fixture.crash({ reader })
  next.backgroundRead.wake()
  await next.backgroundRead.idle()
  t.true((await seen(next)).every((addresses) => addresses.includes('body@example.org')))
  t.is(reader.reads, 30)
})

test('BackgroundRead: reads captures that arrive during a read, and none twice', async (t) => {
  const reader = new NoReader()
  const fixture = await coreFixture(t, { reader })
  await Promise.all(Array.from({ length: 40 }, () => fixture.submit()))
  for (let i = 0; i < 10; i++) await fixture.submit()
  await fixture.backgroundRead.idle()
  await fixture.settled()
  t.is(reader.reads, 50)
})

test('BackgroundRead: shares one reading with a waiting caller', async (t) => {
  const reader = new NoReader()
  const gate = Promise.withResolvers<void>()
  const read = reader.read.bind(reader)
  reader.read = async (raw) => {
    const result = read(raw)
    await gate.promise
    return result
  }
  const fixture = await coreFixture(t, { reader })
  await fixture.inbox()
  const never = new AbortController().signal
  const waits = Array.from({ length: 20 }, () => fixture.inboxes.wait(principal, 'inb_1', { timeoutMs: 30_000, signal: never }))
  await fixture.settled()
  t.is(fixture.captureEvents.waiting(projectId), 20, 'all wait')
  await fixture.submit()
  await fixture.settled()
  t.is(reader.reads, 1, 'the message is read')
  gate.resolve()
  const answers = await Promise.all(waits)
  await fixture.backgroundRead.idle()
  t.is(new Set(answers).size, 1)
  t.is(reader.reads, 1)
})

test('BackgroundRead: its reading is reused for people', async (t) => {
  const reader = new NoReader()
  const fixture = await coreFixture(t, { reader })
  await fixture.inbox()
  await fixture.submit()
  await fixture.backgroundRead.idle()
  const shown = async () => (await fixture.inboxes.message(principal, 'inb_1', fixture.captured[0]?.id ?? '')).read
  t.true((await shown()).ok)
  t.true((await shown()).ok)
  t.is(reader.reads, 1)
})

test('BackgroundRead: a slow message delays no other organization', async (t) => {
  const reader = new NoReader()
  const gate = Promise.withResolvers<void>()
  const read = reader.read.bind(reader)
  reader.read = async (message) => {
    if (message.organizationId === organizationId) await gate.promise
    return read(message)
  }
  const fixture = await coreFixture(t, { reader })
  for (let i = 0; i < 3; i++) await fixture.submit()
  const other = ['org_0', 'org_2', 'org_2'].map((of, i) => pendingReadKey(of, `cap_${i}`)) // of deleted captures
  // The reader finds organizations by their keys.
  const own = ['org_0', 'org_2'].map((of) => [of, 'settings'])
  await fixture.database.commit([...other, ...own].reduce((change, key) => change.set(key), new Change()))
  fixture.backgroundRead.wake()
  await fixture.settled()
  t.is(await passedOver(fixture), 0, 'the others are read')
  t.is(reader.reads, 0)
  gate.resolve()
  await fixture.backgroundRead.idle()
  t.is(reader.reads, 3)
})

test('BackgroundRead: continues after an unreadable message, and retries it later', async (t) => {
  const reader = new NoReader()
  const read = reader.read.bind(reader)
  reader.read = async (message) => {
    if (Buffer.from(await message.read()).includes('bad')) throw new Error('a defect')
    return read(message)
  }
  const fixture = await coreFixture(t, { reader })
  await fixture.submit({ content: 'Subject: bad\r\n\r\n' })
  await fixture.submit()
  await fixture.backgroundRead.idle()
  t.is(await passedOver(fixture), 1)
  t.deepEqual(
    fixture.errors.map(String),
    Array.from(fixture.errors.splice(0), () => 'Error: a defect'),
  )
  reader.read = read
  fixture.backgroundRead.wake()
  await fixture.backgroundRead.idle()
  t.is(await passedOver(fixture), 0)
  t.is(reader.reads, 2)
})

test('BackgroundRead: reports a failed read if the store fails too', async (t) => {
  const reader = new NoReader()
  const fixture = await coreFixture(t, { reader })
  reader.read = () => {
    fixture.kv.onLook = () => {
      throw new Error('the store')
    }
    return Promise.reject(new Error('a defect'))
  }
  await fixture.submit()
  await fixture.backgroundRead.idle()
  fixture.kv.onLook = undefined
  t.deepEqual(fixture.errors.splice(0).map(String), ['Error: a defect', 'Error: the store'])
})

test('BackgroundRead: gives up unparsable and deleted messages', async (t) => {
  const reader = new NoReader()
  reader.read = () => Promise.resolve({ ok: false, unreadable: 'No.' })
  const fixture = await coreFixture(t, { reader })
  await fixture.submit()
  await fixture.backgroundRead.idle()
  t.is(await passedOver(fixture), 0)
  t.deepEqual(await seen(fixture), [['anna@example.net', 'shop@example.com']])
  await fixture.backgroundRead.stop()
  const { traceId } = await fixture.submit()
  await fixture.remove(traces, traceId)
  const next = await fixture.crash()
  next.backgroundRead.wake()
  await next.backgroundRead.idle()
  t.is(await passedOver(next), 0)
})

test('stop(): waits for the current message, and begins no other', async (t) => {
  const reader = new NoReader()
  const gate = Promise.withResolvers<void>()
  const read = reader.read.bind(reader)
  reader.read = async (raw) => {
    const result = await read(raw)
    await gate.promise
    return result
  }
  const fixture = await coreFixture(t, { reader })
  for (let i = 0; i < 3; i++) await fixture.submit()
  await fixture.settled()
  t.is(reader.reads, 1, 'reading')
  let stopped = false
  const stopping = fixture.backgroundRead.stop().then(() => (stopped = true))
  t.false(stopped)
  gate.resolve()
  await stopping
  fixture.backgroundRead.wake()
  await fixture.settled()
  t.is(reader.reads, 1)
  const next = await fixture.crash()
  next.backgroundRead.wake()
  await next.backgroundRead.idle()
  t.is(reader.reads, 3, 'only the two remaining messages')
})

test('stop(): leaves messages of a stopped reader for the next start', async (t) => {
  const reader = new NoReader()
  const gate = Promise.withResolvers<void>()
  reader.read = async () => {
    reader.reads++
    await gate.promise
    return { ok: false, unreadable: 'The service is shutting down.' }
  }
  const fixture = await coreFixture(t, { reader })
  await fixture.submit()
  await fixture.settled()
  t.is(reader.reads, 1, 'reading')
  const stopping = fixture.backgroundRead.stop()
  gate.resolve()
  await stopping
  reader.read = (message) => NoReader.prototype.read.call(reader, message)
  const next = await fixture.crash()
  next.backgroundRead.wake()
  await next.backgroundRead.idle()
  t.is(reader.reads, 2)
})

test('BackgroundRead: survives an unreadable store', async (t) => {
  const fixture = await coreFixture(t)
  const range = fixture.kv.range.bind(fixture.kv)
  fixture.kv.range = () => {
    throw new Error('unreadable')
  }
  fixture.backgroundRead.wake()
  await fixture.settled()
  t.is(fixture.errors.length, 1, 'the error is reported')
  fixture.kv.range = range
  await fixture.submit()
  await fixture.backgroundRead.idle()
  t.is(fixture.errors.splice(0).length, 1)
})

test('read marks: stored once for 64 messages; a crash repeats at most these', async (t) => {
  const reader = new NoReader()
  const fixture = await coreFixture(t, { reader })
  const before = fixture.database.commits
  for (let i = 0; i < 100; i++) await fixture.submit()
  await fixture.backgroundRead.idle()
  t.is(fixture.database.commits - before, 101)
  const next = await fixture.crash()
  next.backgroundRead.wake()
  await next.backgroundRead.idle()
  t.is(reader.reads, 136)
  await next.backgroundRead.stop()
  const third = await next.crash()
  third.backgroundRead.wake()
  await third.backgroundRead.idle()
  t.is(reader.reads, 136, 'an orderly stop writes all marks')
})

test('read marks: projects take turns with separate marks', async (t) => {
  const reader = new NoReader()
  const fixture = await coreFixture(t, { reader })
  await fixture.project({ id: 'prj_2', isDefault: false })
  await fixture.backgroundRead.stop()
  for (let i = 0; i < 40; i++) await fixture.submit()
  await fixture.submit({ projectId: 'prj_2', content: 'Subject: other\r\n\r\n' })
  const subjects: string[] = []
  const read = reader.read.bind(reader)
  reader.read = async (message) => {
    const result = await read(message)
    if (result.ok) subjects.push(result.message.subject)
    return result
  }
  const next = await fixture.crash({ reader })
  next.backgroundRead.wake()
  await next.backgroundRead.idle()
  t.is(subjects.length, 41)
  t.is(subjects.indexOf('other'), 32)
  await next.backgroundRead.stop()
  t.is((await next.keys('capture.read')).length, 2)
  await next.assertSound(t)
})

test('read marks: BackgroundRead reads a capture after a clock set back once', async (t) => {
  const hour = 3_600_000
  const reader = new NoReader()
  const fixture = await coreFixture(t, { reader, post: () => Promise.resolve({ status: 204, answer: Buffer.alloc(0) }) })
  await fixture.project({ id: 'prj_2', isDefault: false })
  await fixture.inbox({ notifyWebhookUrl: 'https://hook.example.org/' })
  await fixture.inbox({ id: 'inb_2', projectId: 'prj_2', notifyWebhookUrl: 'https://hook.example.org/' })
  fixture.clock.step(-2 * hour)
  await fixture.submit({ projectId: 'prj_2' }) // whose mark stays behind the other project's
  await fixture.backgroundRead.idle()
  fixture.clock.step(2 * hour)
  await fixture.submit()
  await fixture.backgroundRead.idle()
  await fixture.backgroundRead.stop()
  fixture.clock.step(-hour)
  const next = await fixture.crash()
  await Promise.all([next.submit(), next.submit(), next.submit({ projectId: 'prj_2' })])
  await next.backgroundRead.idle()
  t.is(reader.reads, 5)
  t.is(await notified(next), 5)
  t.is(await passedOver(next), 0)
  await next.backgroundRead.stop()
  next.clock.step(-hour / 2)
  const third = await next.crash()
  await third.submit()
  const fourth = await third.crash() // before or after its read
  fourth.backgroundRead.wake()
  await fourth.backgroundRead.idle()
  t.is(await notified(fourth), 6)
  t.is(await passedOver(fourth), 0)
  await fourth.assertSound(t)
})

test('BackgroundRead: repeated failures cost other messages of the organization little', async (t) => {
  const reader = new NoReader()
  const read = reader.read.bind(reader)
  let failures = 0
  reader.read = async (message) => {
    if (!Buffer.from(await message.read()).includes('bad')) return read(message)
    failures++
    throw new Error('a defect')
  }
  const fixture = await coreFixture(t, { reader })
  await Promise.all(Array.from({ length: 50 }, () => fixture.submit({ content: 'Subject: bad\r\n\r\n' })))
  await fixture.backgroundRead.idle()
  t.is(await passedOver(fixture), 50)
  t.is(failures, 50)
  for (let i = 0; i < 20; i++) {
    await fixture.submit()
    await fixture.backgroundRead.idle()
  }
  t.is(reader.reads, 20)
  t.is(failures, 50, 'they are paused')
  fixture.clock.advance(60_000)
  await Promise.all(Array.from({ length: 20 }, () => fixture.submit()))
  await fixture.backgroundRead.idle()
  t.is(failures, 100, 'each was retried once')
  t.is(reader.reads, 40)
  t.is(fixture.errors.splice(0).length, 100)
})

test('read marks: never move back, even if an earlier position is written later', async (t) => {
  const fixture = await coreFixture(t)
  await fixture.backgroundRead.stop()
  const [first, second] = [await fixture.trace((await fixture.submit()).traceId), await fixture.trace((await fixture.submit()).traceId)]
  const marks = new ReadMarks(fixture.database)
  await marks.pass(organizationId, first)
  const gate = Promise.withResolvers<void>()
  let held = 0
  fixture.kv.beforeWrite = () => (held++ === 0 ? gate.promise : undefined)
  const saving = marks.save()
  await fixture.settled()
  t.is(held, 1, 'the first row is about to be written')
  await transact(fixture.database, { organizationId }, (change) => marks.passWith(change, organizationId, second))
  gate.resolve()
  await saving
  t.deepEqual(await new ReadMarks(fixture.database).next(organizationId, projectId, 9), [])
})

test('read marks: a project deleted during a read leaves no mark', async (t) => {
  const reader = new NoReader()
  const fixture = await coreFixture(t, { reader })
  await fixture.submit()
  await fixture.backgroundRead.idle()
  await fixture.remove(projects, projectId)
  await fixture.backgroundRead.stop()
  t.deepEqual(await fixture.keys('capture.read'), [])
})

test('read marks: captures of an earlier release count as read unless they have a row', async (t) => {
  const reader = new NoReader()
  const fixture = await coreFixture(t, { reader })
  await fixture.backgroundRead.stop()
  await fixture.submit()
  const { traceId } = await fixture.submit()
  const unread = pendingReadKey(organizationId, fixture.captured[1]?.id ?? '')
  const before = new Change().set(unread, Buffer.from(traceId)) // as that release left the store
  await fixture.database.commit(before.delete(globalKey('carried', 'readings')).delete(readMarkKey(organizationId, projectId)))
  await carryReadings(fixture.database)
  await carryReadings(fixture.database)
  const next = await fixture.crash()
  await next.submit()
  next.backgroundRead.wake()
  await next.backgroundRead.idle()
  t.is(reader.reads, 2)
  t.is(await passedOver(next), 0)
})

test('BackgroundRead: a message deleted during its read leaves nothing behind', async (t) => {
  const reader = new NoReader()
  const gate = Promise.withResolvers<never>()
  reader.read = () => gate.promise
  const fixture = await coreFixture(t, { reader })
  const { traceId } = await fixture.submit()
  await fixture.remove(traces, traceId)
  gate.reject(new Error('its content is gone'))
  await fixture.backgroundRead.idle()
  t.is(await passedOver(fixture), 0)
})
