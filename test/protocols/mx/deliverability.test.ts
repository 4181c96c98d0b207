/** Session facts and stored mail of a deliverability test, over a real socket. */
import test, { type ExecutionContext } from '#test'
import { inspectTests } from '#core/inspect/inspect-test.ts'
import { readWholeContent } from '#store/content.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { startFixture, type Fixture } from './mx-fixture.ts'
import { assertSound } from '../../support/problems.ts'

const organizationId = 'org_1'
const content = Buffer.from('From: Shop <shop@example.com>\r\nSubject: Gr\u00fc\u00dfe\r\n\r\n.. two dots\r\nend\r\n')

async function stored({ database, testId }: Fixture) {
  const found = await database.get(inspectTests, { organizationId }, testId)
  if (!found) throw new Error('no test')
  return found.record
}

async function send(t: ExecutionContext, fixture: Fixture, to: string, octets: Buffer, security: 'none' | 'starttls'): Promise<void> {
  const client = await SmtpClient.connect({ port: fixture.port, security })
  t.true((await client.send({ from: 'shop@example.com', to: [to], content: octets })).accepted)
  await client.quit()
}

test('deliverability test: stores mail unchanged with session facts; first mail counts', async (t) => {
  const fixture = await startFixture(t)
  await send(t, fixture, fixture.names['test'] ?? '', content, 'starttls')
  const { mail } = await stored(fixture)
  t.like(mail?.session, {
    clientIp: '127.0.0.1',
    mailFrom: 'shop@example.com',
    rcptTo: fixture.names['test'],
    serverName: 'mx.test',
    tlsOffered: true,
    smtpUtf8: false,
  })
  t.regex(mail?.session.tls?.protocol ?? '', /^TLSv1\.[23]$/)
  t.regex(mail?.session.tls?.cipher ?? '', /^TLS_/)
  t.is(mail?.session.receivedAt, fixture.clock.now())
  t.true(mail && Buffer.from(await readWholeContent(fixture.database, organizationId, mail.content)).equals(content))
  await send(t, fixture, (fixture.names['test'] ?? '').toUpperCase(), Buffer.from('Subject: second\r\n\r\nx\r\n'), 'none')
  const after = await stored(fixture)
  t.deepEqual(after.mail, mail)
  t.is(after.laterMails, 1)
  t.deepEqual(fixture.events.defects, [])
})

test('deliverability test: stores a large mail whole; reports missing TLS', async (t) => {
  const fixture = await startFixture(t)
  const large = Buffer.from(`Subject: large\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(20_000)}`)
  await send(t, fixture, fixture.names['test'] ?? '', large, 'none')
  const { mail } = await stored(fixture)
  t.is(mail?.session.tls, null)
  t.true(mail && Buffer.from(await readWholeContent(fixture.database, organizationId, mail.content)).equals(large))
})

test('deliverability test: aborted DATA leaves no trace, and the test stays pending', async (t) => {
  const fixture = await startFixture(t)
  const client = await fixture.connect()
  await client.reply()
  for (const line of ['EHLO a.test', 'MAIL FROM:<a@b.test>', `RCPT TO:<${fixture.names['test'] ?? ''}>`, 'DATA']) await client.command(line)
  client.send(`${'x'.repeat(900)}\r\n`)
  client.destroy()
  await send(t, fixture, fixture.names['test'] ?? '', content, 'none')
  t.is((await stored(fixture)).mail?.content.size, content.length)
})

test('deliverability test: an address expires after a day', async (t) => {
  const fixture = await startFixture(t)
  fixture.clock.advance(24 * 3_600_000)
  const client = await SmtpClient.connect({ port: fixture.port })
  const { accepted, reply } = await client.send({ from: 'a@b.test', to: [fixture.names['test'] ?? ''], content })
  t.false(accepted)
  t.is(reply.code, 550)
  client.destroy()
})

for (const [where, text] of [
  ['header', 'Subject: a\nX-B: c\r\n\r\nx\r\n'],
  ['body', 'Subject: a\r\n\r\nx\ny\r\n'],
] as const)
  test(`deliverability test: reports a bare LF in the ${where}, which is corrected`, async (t) => {
    const fixture = await startFixture(t)
    await send(t, fixture, fixture.names['test'] ?? '', Buffer.from(text), 'none')
    const { mail } = await stored(fixture)
    t.is(mail?.session.bareLineEnd, where)
    await assertSound(t, fixture)
    t.is(mail && String(await readWholeContent(fixture.database, organizationId, mail.content)), text.replaceAll(/\r?\n/g, '\r\n'))
  })
