import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, createServer } from 'node:net'
import test from '#test'
import { Refusal } from '#core/refusals.ts'
import { closedPort } from '../../support/network/held-port.ts'
import { waiting } from '../../support/waits.ts'
import { beginMessage } from './line-client.ts'
import { startFixture } from './submission-fixture.ts'
import { column } from '../../support/column.ts'
import { listenIn } from '../../support/web/listen.ts'

/** Node publishes every accepted connection here. */
const accepted = 'net.server.socket'

test('close(): 421 for idle sessions, current message finishes, no new sessions', async (t) => {
  const fixture = await startFixture(t)
  const idle = await fixture.session()
  const envelope = await fixture.session()
  await envelope.command('MAIL FROM:<a@site.test>')
  const sending = await fixture.session()
  await beginMessage(sending)
  const submitting = await fixture.session()
  await beginMessage(submitting)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const submitted = new Promise<void>((resolve) => (fixture.door.onSubmit = resolve))
  fixture.door.held = held
  submitting.send(Buffer.from('One\r\n.\r\nMAIL FROM:<late@site.test>\r\n'))
  await submitted

  const closed = fixture.server.close(30_000)
  for (const client of [idle, envelope]) {
    t.regex(await client.reply(), /^421 4\.3\.2 The service is shutting down/)
    t.is(await client.closed(), '')
  }
  const late = connect(fixture.port, '127.0.0.1')
  const refused = await waiting('the refusal', new Promise<Error>((resolve) => late.once('error', resolve)))
  t.is((refused as NodeJS.ErrnoException).code, 'ECONNREFUSED')

  release()
  t.regex(await submitting.reply(), /^250 2\.0\.0 Ok: queued/)
  t.regex(await submitting.reply(), /^421 4\.3\.2/)
  t.is(await submitting.closed(), '')
  sending.send(Buffer.from('Two\r\n.\r\n'))
  t.regex(await sending.reply(), /^250 2\.0\.0 Ok: queued/)
  t.regex(await sending.reply(), /^421 4\.3\.2/)
  for (const client of [idle, envelope, submitting, sending]) client.destroy()
  await waiting('the close', closed)
  t.deepEqual(
    fixture.door.taken.map(({ content }) => content.toString()),
    ['One\r\n', 'Two\r\n'],
  )
})

test('close(): ends sessions at the deadline and discards the message', async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.session()
  await beginMessage(client)
  const closed = fixture.server.close(30_000)
  fixture.clock.advance(29_999)
  client.send('still going')
  fixture.clock.advance(1)
  await waiting('the close', closed)
  t.is(await client.closed(), '')
  t.deepEqual(column(fixture.door.drafts, 'discarded'), [true])
})

test('close(): message with a slow write still gets its reply', async (t) => {
  const outcomes = [undefined, new Refusal('storage_full', 'There is no room.')]
  for (const submitFails of outcomes) {
    const fixture = await startFixture(t)
    const client = await fixture.session()
    await beginMessage(client)
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    const submitted = new Promise<void>((resolve) => (fixture.door.onSubmit = resolve))
    Object.assign(fixture.door, { held, submitFails })
    client.send(Buffer.from('Three\r\n.\r\n'))
    await submitted
    fixture.clock.advance(24 * 3_600_000)
    const closed = fixture.server.close(30_000)
    fixture.clock.advance(30_000)
    release()
    t.regex(await client.reply(), submitFails ? /^452 4\.3\.1/ : /^250 2\.0\.0 Ok: queued/)
    t.regex(await client.reply(), /^421 4\.3\.2/)
    client.destroy()
    await waiting('the close', closed)
  }
})

test('close(): ends TLS handshakes in progress', async (t) => {
  const fixture = await startFixture(t)
  const silent = connect(fixture.tlsPort, '127.0.0.1')
  silent.on('error', () => undefined)
  t.teardown(() => silent.destroy())
  await waiting('the connection', new Promise((resolve) => silent.once('connect', resolve)))
  const client = await fixture.connect()
  await client.reply()
  client.destroy()
  await fixture.events.seen('closed')
  await waiting('the close', fixture.server.close(30_000))
  t.pass()
})

test.serial('close(): survives a simultaneous connection to the TLS listener', async (t) => {
  const fixture = await startFixture(t)
  const closed = new Promise<void>((resolve, reject) => {
    const onAccept = (): void => {
      unsubscribe(accepted, onAccept)
      process.nextTick(() => fixture.server.close(30_000).then(resolve, reject))
    }
    subscribe(accepted, onAccept)
  })
  const client = connect(fixture.tlsPort, '127.0.0.1')
  client.on('error', () => undefined)
  t.teardown(() => client.destroy())
  await waiting('the close', closed)
  await fixture.events.seen('error The connection closed without a TLS handshake.')
  t.pass()
})

test('listen(): fails if an address is in use, and closes the others', async (t) => {
  const port = await listenIn(t, createServer())
  const free = await closedPort(t)
  const listen = [
    { host: '127.0.0.1', port: free },
    { host: '127.0.0.1', port },
  ]
  await t.throwsAsync(startFixture(t, {}, { listen }), { code: 'EADDRINUSE' })
  const again = createServer()
  await new Promise<void>((resolve, reject) => again.once('error', reject).listen(free, '127.0.0.1', resolve))
  await new Promise((resolve) => again.close(resolve))
})
