import { connect } from 'node:net'
import test from '#test'
import { waiting } from '../../support/waits.ts'
import { plainToken } from './door-double.ts'
import { beginMessage } from './line-client.ts'
import { startFixture } from './submission-fixture.ts'
import { column } from '../../support/column.ts'

test('ConnectionCaps refuse one connection too many from an address with 421 4.7.0, and take one again when one has ended', async (t) => {
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

test('ConnectionCaps let any number of sessions of an address come that are logged in, on both kinds of port', async (t) => {
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

test('ConnectionCaps do not count what has ended: sessions that open and close one after the other are all let in', async (t) => {
  const fixture = await startFixture(t, { maxConnectionsPerAddress: 1 })
  for (let i = 0; i < 60; i++) {
    const client = await fixture.connect(i % 3 === 2)
    t.regex(await client.reply(), /^220/, `session ${i}`)
    if (i % 2 === 0) client.destroy()
    else t.regex(await client.command('QUIT'), /^221/) // and the client does not hang up
  }
})

test('ConnectionCaps let no address fill all places by sessions that it ends and keeps', async (t) => {
  const fixture = await startFixture(t, { maxConnections: 12, maxConnectionsPerAddress: 3 })
  for (let i = 0; i < 30; i++) {
    // does not hang up when the server does
    const socket = connect({ port: fixture.port, host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => socket.destroy())
    socket.on('error', () => undefined)
    let heard = ''
    socket.on('data', (chunk: Buffer) => (heard += String(chunk)))
    socket.write('QUIT\r\n')
    await waiting('the end', new Promise((resolve) => socket.once('end', resolve)))
    t.regex(heard, /^220 .*\r\n221 /, `session ${i}`)
  }
  // those of others, and of this address, find a place
  for (let i = 0; i < 3; i++) t.regex(await (await fixture.connect()).reply(), /^220/)
})

test('ConnectionCaps leave half of all connections to others than one user', async (t) => {
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

test('ConnectionCaps count all listeners together, a handshake that does not end included', async (t) => {
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

test('SubmissionConnection bounds commands without a message, and an accepted message starts the count anew', async (t) => {
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

test('SubmissionConnection: a message of many times the limit gets 552 at its end, and the session goes on', async (t) => {
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

test('SubmissionConnection tells a client that sends far too much so, and lets it read that before the end, without a reset', async (t) => {
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

test('SubmissionConnection forgets a message when the client goes away in the middle', async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.session()
  await beginMessage(client)
  client.send('Subject: half')
  client.destroy()
  await fixture.events.seen('closed')
  t.deepEqual(column(fixture.door.drafts, 'discarded'), [true])
  t.deepEqual(fixture.door.taken, [])
})

test('SubmissionServer survives garbage and resets on every listener', async (t) => {
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

test('SubmissionServer tells logs and metrics what happened, and no password', async (t) => {
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

test('SubmissionConnection answers pipelined commands in one piece (RFC 2920 §3.2)', async (t) => {
  const fixture = await startFixture(t)
  const socket = connect(fixture.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const next = () => waiting('an answer', new Promise<string>((resolve) => socket.once('data', (chunk: Buffer) => resolve(String(chunk)))))
  await next()
  socket.write('EHLO client.test\r\nNOOP\r\nRSET\r\nNOOP\r\n')
  t.regex(await next(), /^250-.*\r\n250 2\.0\.0 .*\r\n250 2\.0\.0 .*\r\n250 2\.0\.0 .*\r\n$/s)
})
