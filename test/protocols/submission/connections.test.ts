import { connect } from 'node:net'
import test from '#test'
import { waiting } from '../../support/waits.ts'
import { plainToken } from './door-double.ts'
import { beginMessage } from './line-client.ts'
import { startFixture } from './submission-fixture.ts'
import { column } from '../../support/column.ts'

test('ConnectionCaps: 421 4.7.0 over the limit per address, until a session ends', async (t) => {
  const fixture = await startFixture(t, { maxConnectionsPerAddress: 2 })
  const first = await fixture.connect()
  t.is(await first.reply(), '220 mail.test ESMTP')
  const second = await fixture.connect()
  await second.reply()
  t.is(await second.startTls(), '220 2.0.0 Ready to start TLS')
  const third = await fixture.connect()
  t.regex(await third.reply(), /^421 4\.7\.0 Too many connections from your address/)
  await third.closed()
  second.destroy()
  await fixture.events.seen('closed')
  const fourth = await fixture.connect()
  t.is(await fourth.reply(), '220 mail.test ESMTP')
})

test('ConnectionCaps: logged-in sessions do not count for their address', async (t) => {
  const fixture = await startFixture(t, { maxConnectionsPerAddress: 2 })
  for (let i = 0; i < 4; i++) {
    await fixture.session()
    const inTls = await fixture.connect(true)
    await inTls.reply()
    await inTls.command('EHLO client.test')
    t.regex(await inTls.command(`AUTH PLAIN ${plainToken}`), /^235/)
  }
  for (let i = 0; i < 2; i++) t.regex(await (await fixture.connect()).reply(), /^220/)
  t.regex(await (await fixture.connect()).reply(), /^421 4\.7\.0 Too many connections from your address/)
})

test('ConnectionCaps: ended sessions do not count', async (t) => {
  const fixture = await startFixture(t, { maxConnectionsPerAddress: 1 })
  for (let i = 0; i < 60; i++) {
    const client = await fixture.connect(i % 3 === 2)
    t.regex(await client.reply(), /^220/, `session ${i}`)
    if (i % 2 === 0) client.destroy()
    else t.regex(await client.command('QUIT'), /^221/) // the client keeps the connection open
  }
})

test('ConnectionCaps: ended but open sessions of an address are limited', async (t) => {
  const fixture = await startFixture(t, { maxConnections: 12, maxConnectionsPerAddress: 3 })
  for (let i = 0; i < 30; i++) {
    // stays open when the server ends it
    const socket = connect({ port: fixture.port, host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => socket.destroy())
    socket.on('error', () => undefined)
    let heard = ''
    socket.on('data', (chunk: Buffer) => (heard += String(chunk)))
    socket.write('QUIT\r\n')
    await waiting('the end', new Promise((resolve) => socket.once('end', resolve)))
    t.regex(heard, /^220 .*\r\n221 /, `session ${i}`)
  }
  // there is room for other clients and for this address
  for (let i = 0; i < 3; i++) t.regex(await (await fixture.connect()).reply(), /^220/)
})

test('ConnectionCaps: a user gets at most half of all connections', async (t) => {
  const fixture = await startFixture(t, { maxConnections: 4 })
  await fixture.session()
  const second = await fixture.session()
  const third = await fixture.connect(true)
  await third.reply()
  await third.command('EHLO client.test')
  t.regex(await third.command(`AUTH PLAIN ${plainToken}`), /^421 4\.7\.0 Too many sessions of this user/)
  await third.closed()
  second.destroy()
  await fixture.events.seen('closed', 2)
  t.regex(await (await fixture.connect()).logIn(), /^235/)
})

test('ConnectionCaps: total includes all listeners and unfinished handshakes', async (t) => {
  const fixture = await startFixture(t, { maxConnections: 2 })
  const silent = connect(fixture.tlsPort, '127.0.0.1')
  t.teardown(() => silent.destroy())
  await waiting('the connection', new Promise((resolve) => silent.once('connect', resolve)))
  const first = await fixture.connect()
  await first.reply()
  const second = await fixture.connect()
  t.regex(await second.reply(), /^421 4\.3\.2 Too many connections/)
  const refused = connect(fixture.tlsPort, '127.0.0.1')
  refused.on('error', () => undefined)
  await waiting('the refusal', new Promise((resolve) => refused.once('close', resolve)))
  t.pass()
})

test('SubmissionConnection: limits commands; an accepted message resets the count', async (t) => {
  const fixture = await startFixture(t, { maxRecipients: 1 })
  const client = await fixture.session()
  for (let round = 0; round < 3; round++) {
    client.send(Buffer.from('NOOP\r\n'.repeat(80) + 'MAIL FROM:<a@site.test>\r\nRCPT TO:<b@example.test>\r\nDATA\r\n.\r\n'))
    for (let reply = 0; reply < 83; reply++) await client.reply()
    t.regex(await client.reply(), /^250 2\.0\.0 Ok/)
  }
  client.send(Buffer.from('NOOP\r\n'.repeat(200)))
  const answers: string[] = []
  do answers.push(await client.reply())
  while (answers.at(-1)?.startsWith('250'))
  t.is(answers.length, 103)
  t.regex(answers.at(-1) ?? '', /^421 4\.7\.0 Too many commands/)
  t.is(await client.closed(), '')
})

test('SubmissionConnection: too large message gets 552 at its end; session continues', async (t) => {
  const fixture = await startFixture(t)
  fixture.door.maxMessageBytes = 20_000
  const client = await fixture.session()
  for (const octets of [60_000, 1_000_000, 40_000_000]) {
    await beginMessage(client)
    client.send(Buffer.concat([Buffer.alloc(octets, `${'x'.repeat(998)}\r\n`), Buffer.from('\r\n.\r\n')]))
    t.regex(await client.reply(), /^552 5\.3\.4 The message exceeds the limit of 20000 octets/, String(octets))
  }
  client.send('QUIT')
  t.regex(await client.reply(), /^221 /)
  t.deepEqual(fixture.door.taken, [])
})

test('SubmissionConnection: far too large message gets a reply without a reset', async (t) => {
  const fixture = await startFixture(t, {}, { cleartextAuth: 'loopback' })
  fixture.door.maxMessageBytes = 100_000
  const socket = connect(fixture.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const failed: Error[] = []
  socket.on('error', (error) => failed.push(error))
  let heard = ''
  socket.on('data', (chunk: Buffer) => (heard += String(chunk)))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const opening = `EHLO client.test\r\nAUTH PLAIN ${plainToken}\r\nMAIL FROM:<a@site.test>\r\nRCPT TO:<b@example.test>\r\nDATA\r\n`
  socket.write(opening)
  socket.end(Buffer.alloc(80_000_000, `${'x'.repeat(998)}\r\n`))
  await waiting('the end of the connection', closed)
  t.regex(heard, /^552 5\.3\.4 The message is far larger/m)
  t.deepEqual(failed, [])
  t.deepEqual(fixture.door.taken, [])
})

test('SubmissionConnection: disconnect during DATA leaves no trace', async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.session()
  await beginMessage(client)
  client.send('Subject: half')
  client.destroy()
  await fixture.events.seen('closed')
  t.deepEqual(column(fixture.door.drafts, 'discarded'), [true])
  t.deepEqual(fixture.door.taken, [])
})

test('SubmissionServer: survives garbage and resets on every listener', async (t) => {
  const fixture = await startFixture(t)
  for (const port of [fixture.port, fixture.tlsPort]) {
    for (const octets of [Buffer.from([0x16, 3, 1, 255, 255, 0, 0]), Buffer.alloc(5000, 0), Buffer.from('\r\n\r\n\n\n')]) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined)
      await waiting('the connection', new Promise((resolve) => socket.once('connect', resolve)))
      await new Promise((resolve) => socket.write(octets, resolve))
      socket.resetAndDestroy()
    }
  }
  const client = await fixture.session()
  t.is(await client.command('NOOP'), '250 2.0.0 OK')
  t.deepEqual(
    fixture.events.lines.filter((line) => line.startsWith('defect')),
    [],
  )
})

test('SubmissionServer: reports events without passwords', async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.connect(true)
  await client.reply()
  await client.command('EHLO client.test')
  await client.command(`AUTH PLAIN ${Buffer.from('\0user\0wrong-password').toString('base64')}`)
  await client.command('AUTH PLAIN AHVzZXIAc2VjcmV0')
  await beginMessage(client)
  await client.command('.')
  fixture.door.submitFails = new Error('a defect')
  await beginMessage(client)
  await client.command('.')
  await client.command('QUIT')
  await fixture.events.seen('closed')
  const lines = ['opened', 'refused 535 5.7.8', 'accepted 6f1c7f0e-6c0a-4b7e-9d0e-1f2a3b4c5d6e']
  t.deepEqual(fixture.events.lines, [...lines, 'defect Error: a defect', 'refused 451 4.3.0', 'closed'])
  t.deepEqual(fixture.door.logins[1], { username: 'user', remoteAddress: '127.0.0.1' })
})

test('SubmissionConnection: one write for pipelined replies (RFC 2920 §3.2)', async (t) => {
  const fixture = await startFixture(t)
  const socket = connect(fixture.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const next = () => waiting('an answer', new Promise<string>((resolve) => socket.once('data', (chunk: Buffer) => resolve(String(chunk)))))
  await next()
  socket.write('EHLO client.test\r\nNOOP\r\nRSET\r\nNOOP\r\n')
  t.regex(await next(), /^250-.*\r\n250 2\.0\.0 .*\r\n250 2\.0\.0 .*\r\n250 2\.0\.0 .*\r\n$/s)
})
