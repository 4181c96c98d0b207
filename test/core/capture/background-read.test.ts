/** Bodies of captures are read for addresses after the acknowledgement, each once, and through crashes. */
import test from 'ava'
import { captures } from '#core/capture/capture.ts'
import { pendingReadKey } from '#core/capture/reading/pending-read.ts'
import { traces } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { houseOf, organizationId, projectId, quiet, principal, until, type House } from '../house.ts'
import { NoReader } from '../no-parsers.ts'

const pending = async (house: House): Promise<number> => (await house.keys('capture.pending')).length
const seen = async (house: House): Promise<string[][]> =>
  (await house.database.all(captures, { organizationId })).map(({ record }) => [...record.addressesSeen])

test('BackgroundRead adds the addresses of the body to those of headers and envelope', async (t) => {
  const reader = new NoReader()
  reader.addresses = ['body@example.org', 'anna@example.net']
  const house = await houseOf(t, { reader })
  await house.submit()
  await until('read', async () => (await pending(house)) === 0)
  t.deepEqual(await seen(house), [['anna@example.net', 'body@example.org', 'shop@example.com']])
  t.is(reader.reads, 1)
})

test('BackgroundRead takes up what an earlier process left', async (t) => {
  const house = await houseOf(t)
  await house.backgroundRead.stop()
  for (let i = 0; i < 30; i++) await house.submit()
  t.is(await pending(house), 30)
  const reader = new NoReader()
  reader.addresses = ['body@example.org']
  const next = await house.crash({ reader })
  next.backgroundRead.wake()
  await until('read', async () => (await pending(next)) === 0)
  t.true((await seen(next)).every((addresses) => addresses.includes('body@example.org')))
  t.is(reader.reads, 30)
})

test('BackgroundRead reads what comes while it reads, and nothing twice', async (t) => {
  const reader = new NoReader()
  const house = await houseOf(t, { reader })
  await Promise.all(Array.from({ length: 40 }, () => house.submit()))
  for (let i = 0; i < 10; i++) await house.submit()
  await until('read', async () => (await pending(house)) === 0)
  await quiet(house)
  t.is(reader.reads, 50)
})

test('who waits for a message and the reading in the background share one reading of it', async (t) => {
  const reader = new NoReader()
  const gate = Promise.withResolvers<void>()
  const read = reader.read.bind(reader)
  reader.read = async (raw) => {
    const result = read(raw)
    await gate.promise
    return result
  }
  const house = await houseOf(t, { reader })
  await house.inbox()
  const never = new AbortController().signal
  const waits = Array.from({ length: 20 }, () => house.inboxes.wait(principal, 'inb_1', { timeoutMs: 30_000, signal: never }))
  await until('all wait', () => house.captureEvents.waiting(projectId) === 20)
  await house.submit()
  await until('it is read', () => reader.reads === 1)
  await quiet(house)
  gate.resolve()
  const answers = await Promise.all(waits)
  await until('read', async () => (await pending(house)) === 0)
  t.is(new Set(answers).size, 1)
  t.is(reader.reads, 1)
})

test('a message that was read in the background is not read again for people', async (t) => {
  const reader = new NoReader()
  const house = await houseOf(t, { reader })
  await house.inbox()
  await house.submit()
  await until('read', async () => (await pending(house)) === 0)
  const shown = async () => (await house.inboxes.message(principal, 'inb_1', house.captured[0]?.id ?? '')).read
  t.true((await shown()).ok)
  t.true((await shown()).ok)
  t.is(reader.reads, 1)
})

test('a message that takes long holds up no other organization', async (t) => {
  const reader = new NoReader()
  const gate = Promise.withResolvers<void>()
  const read = reader.read.bind(reader)
  reader.read = async (message) => {
    if (message.organizationId === organizationId) await gate.promise
    return read(message)
  }
  const house = await houseOf(t, { reader })
  for (let i = 0; i < 3; i++) await house.submit()
  const other = ['org_0', 'org_2', 'org_2'].map((of, i) => pendingReadKey(of, `cap_${i}`)) // of captures that are gone
  await house.database.commit(other.reduce((change, key) => change.set(key), new Change()))
  house.backgroundRead.wake()
  await until('the others are read', async () => (await pending(house)) === 3)
  gate.resolve()
  await until('all are read', async () => (await pending(house)) === 0)
  t.is(reader.reads, 3)
})

test('BackgroundRead goes on after one message that cannot be read, and tries that again later', async (t) => {
  const reader = new NoReader()
  const read = reader.read.bind(reader)
  reader.read = async (message) => {
    if (Buffer.from(await message.read()).includes('bad')) throw new Error('a defect')
    return read(message)
  }
  const house = await houseOf(t, { reader })
  await house.submit({ content: 'Subject: bad\r\n\r\n' })
  await house.submit()
  await until('the good one is read', async () => (await pending(house)) === 1)
  t.deepEqual(
    house.errors.map(String),
    Array.from(house.errors.splice(0), () => 'Error: a defect'),
  )
  reader.read = read
  house.backgroundRead.wake()
  await until('both are read', async () => (await pending(house)) === 0)
})

test('BackgroundRead gives up what cannot be parsed, and what is gone', async (t) => {
  const reader = new NoReader()
  reader.read = () => Promise.resolve({ ok: false, unreadable: 'No.' })
  const house = await houseOf(t, { reader })
  await house.submit()
  await until('given up', async () => (await pending(house)) === 0)
  t.deepEqual(await seen(house), [['anna@example.net', 'shop@example.com']])
  await house.backgroundRead.stop()
  const { traceId } = await house.submit()
  await house.remove(traces, traceId)
  const next = await house.crash()
  next.backgroundRead.wake()
  await until('gone', async () => (await pending(next)) === 0)
})

test('BackgroundRead.stop() waits for the message under way, and begins no other', async (t) => {
  const reader = new NoReader()
  const gate = Promise.withResolvers<void>()
  const read = reader.read.bind(reader)
  reader.read = async (raw) => {
    const result = await read(raw)
    await gate.promise
    return result
  }
  const house = await houseOf(t, { reader })
  for (let i = 0; i < 3; i++) await house.submit()
  await until('reading', () => reader.reads === 1)
  let stopped = false
  const stopping = house.backgroundRead.stop().then(() => (stopped = true))
  t.false(stopped)
  gate.resolve()
  await stopping
  t.is(await pending(house), 2)
  house.backgroundRead.wake()
  await quiet(house)
  t.is(reader.reads, 1)
})

test('BackgroundRead leaves for the next start what a reader that was stopped could not read', async (t) => {
  const reader = new NoReader()
  const gate = Promise.withResolvers<void>()
  reader.read = async () => {
    reader.reads++
    await gate.promise
    return { ok: false, unreadable: 'The service is shutting down.' }
  }
  const house = await houseOf(t, { reader })
  await house.submit()
  await until('reading', () => reader.reads === 1)
  const stopping = house.backgroundRead.stop()
  gate.resolve()
  await stopping
  t.is(await pending(house), 1)
})

test('BackgroundRead survives a store that cannot be read', async (t) => {
  const house = await houseOf(t)
  const range = house.kv.range.bind(house.kv)
  house.kv.range = () => {
    throw new Error('unreadable')
  }
  house.backgroundRead.wake()
  await until('told', () => house.errors.length === 1)
  house.kv.range = range
  await house.submit()
  await until('read', async () => (await pending(house)) === 0)
  t.is(house.errors.splice(0).length, 1)
})
