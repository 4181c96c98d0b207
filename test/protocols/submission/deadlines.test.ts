import test from '#test'
import { waiting } from '../../support/waits.ts'
import { startFixture, type Fixture } from './submission-fixture.ts'
import { beginMessage, type LineClient } from './line-client.ts'
import { column } from '../../support/column.ts'

/** Writes lines into DATA and waits until all of them are in the draft. */
async function trickle({ door }: Fixture, client: LineClient, octets: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const draft = door.drafts.at(-1)
  const wanted = (draft?.size ?? 0) + octets
  door.onWrite = () => {
    if ((draft?.size ?? 0) >= wanted) resolve()
  }
  client.send(Buffer.from('12345678\r\n'.repeat(octets / 10)))
  await waiting('the octets in the draft', promise)
}

test('SessionWatch: silent session ends with 421 4.4.2, with and without login and TLS', async (t) => {
  const fixture = await startFixture(t)
  const silent = await fixture.connect()
  t.is(await silent.reply(), '220 mail.test ESMTP')
  const inTls = await fixture.connect(true)
  await inTls.reply()
  const loggedIn = await fixture.session()
  fixture.clock.advance(40_000)
  t.is(await loggedIn.command('NOOP'), '250 2.0.0 OK')
  fixture.clock.advance(50_000)
  t.regex(await silent.reply(), /^421 4\.4\.2 No command arrived in time/)
  t.is(await silent.closed(), '')
  t.regex(await inTls.reply(), /^421 4\.4\.2/)
  t.is(await loggedIn.command('NOOP'), '250 2.0.0 OK')
  fixture.clock.advance(80_000)
  t.regex(await loggedIn.reply(), /^421 4\.4\.2/)
  await fixture.events.seen('closed', 3)
})

test('SessionWatch: ends an unfinished STARTTLS handshake', async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.connect()
  await client.reply()
  await client.command('EHLO client.test')
  t.regex(await client.command('STARTTLS'), /^220 /)
  fixture.clock.advance(120_000)
  await client.closed()
  client.destroy()
  await fixture.events.seen('closed')
})

test('SessionWatch: ends a busy session without messages', async (t) => {
  const fixture = await startFixture(t, { sessionMs: 300_000 })
  const chatty = await fixture.session()
  for (let minute = 0; minute < 9; minute++) {
    await chatty.command('NOOP')
    fixture.clock.advance(30_000)
  }
  await chatty.command('NOOP')
  fixture.clock.advance(40_000)
  t.regex(await chatty.reply(), /^421 4\.4\.2 No message was accepted/)
})

test('SessionWatch: session with accepted messages may last for hours', async (t) => {
  const fixture = await startFixture(t, { sessionMs: 300_000 })
  const sender = await fixture.session()
  for (let round = 0; round < 20; round++) {
    await beginMessage(sender)
    fixture.clock.advance(50_000)
    t.regex(await sender.command('.'), /^250 2\.0\.0/)
    for (let wait = 0; wait < 4; wait++) {
      fixture.clock.advance(50_000)
      await sender.command('NOOP')
    }
  }
  await beginMessage(sender)
  for (let step = 0; step < 40; step++) {
    await trickle(fixture, sender, 20_000)
    fixture.clock.advance(15_000)
  }
  t.regex(await sender.command('.'), /^250 2\.0\.0/)
  t.is(await sender.command('NOOP'), '250 2.0.0 OK')
  t.is(fixture.door.taken.length, 21)
})

test('SessionWatch: scarce connections shorten the silence limit', async (t) => {
  const fixture = await startFixture(t, { maxConnections: 4, idleMs: 300_000 })
  const silent = await fixture.connect()
  await silent.reply()
  fixture.clock.advance(200_000)
  t.is(await silent.command('NOOP'), '250 2.0.0 OK')
  const others = [await fixture.connect(), await fixture.connect(), await fixture.connect()]
  for (const other of others) await other.reply()
  fixture.clock.advance(10_000)
  t.is(await silent.command('NOOP'), '250 2.0.0 OK')
  fixture.clock.advance(45_000)
  t.regex(await silent.reply(), /^421 4\.4\.2 No command arrived in time/)
})

test('SessionWatch: slow message is refused and leaves no trace', async (t) => {
  const fixture = await startFixture(t)
  const slow = await fixture.session()
  await beginMessage(slow)
  await trickle(fixture, slow, 2000)
  fixture.clock.advance(10_000)
  for (let step = 0; step < 4; step++) {
    await trickle(fixture, slow, 10_000)
    fixture.clock.advance(15_000)
  }
  fixture.clock.advance(10_000)
  t.regex(await slow.reply(), /^421 4\.4\.2 The message arrives too slowly/)
  await slow.closed()
  t.deepEqual(column(fixture.door.drafts, 'discarded'), [true])
})

test("SessionWatch: accepts the minimum rate; excludes the server's own delays", async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.session()
  await beginMessage(client)
  for (let step = 0; step < 12; step++) {
    await trickle(fixture, client, 20_000)
    fixture.clock.advance(15_000)
  }
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  fixture.door.held = held
  const submitted = new Promise<void>((resolve) => (fixture.door.onSubmit = resolve))
  client.send('.')
  await submitted
  fixture.clock.advance(590_000)
  release()
  t.regex(await client.reply(), /^250 2\.0\.0/)
  t.is(fixture.door.taken[0]?.content.length, 240_000)
})

test("SessionWatch: silence starts at the server's reply", async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.session()
  await beginMessage(client)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  fixture.door.held = held
  const submitted = new Promise<void>((resolve) => (fixture.door.onSubmit = resolve))
  client.send('.')
  await submitted
  fixture.clock.advance(200_000)
  release()
  t.regex(await client.reply(), /^250 2\.0\.0/)
  fixture.clock.advance(40_000)
  t.is(await client.command('NOOP'), '250 2.0.0 OK')
})

test('SubmissionServer: no timers remain after the sessions', async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.session()
  t.is(fixture.clock.pending, 1)
  await client.command('QUIT')
  await fixture.events.seen('closed')
  t.is(fixture.clock.pending, 0)
})
