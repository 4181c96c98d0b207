/** Mail to several kinds of recipients at once, and a catch-all route next to specific routes. */
import test from '#test'
import { inboundMessages } from '#core/inbound-routes/inbound-message.ts'
import { inboundRoutes, type InboundRoute } from '#core/inbound-routes/route.ts'
import { Refusal } from '#core/refusals.ts'
import { organizations, projects } from '#core/tenancy/organization.ts'
import { inspectTests } from '#core/inspect/inspect-test.ts'
import { readWholeContent } from '#store/content.ts'
import { Change } from '#store/change.ts'
import type { Stored } from '#store/record-kind.ts'
import { organizationId, projectId } from '../../core/core-fixture.ts'
import { SmtpClient, type Answer } from '../../support/smtp/smtp-client.ts'
import { startFixture, type Fixture } from './mx-fixture.ts'
import { column } from '../../support/column.ts'

const content = Buffer.from('Subject: for all\r\n\r\nx\r\n')

async function addRoute({ database }: Fixture): Promise<void> {
  const route = { id: 'inr_1', projectId, localPartPattern: '*', webhookUrl: 'https://hooks.example.ch/', sealedSecret: '' }
  await database.commit(new Change().insert(inboundRoutes, organizationId, { ...route, createdAt: 1, updatedAt: 1 }))
}

async function send({ port }: Fixture, to: readonly string[]): Promise<Answer> {
  const client = await SmtpClient.connect({ port })
  const answer = await client.send({ from: 'ada@peer.test', to, content })
  await client.quit()
  return answer
}

test('routes: mail to several kinds of recipients reaches each of them whole', async (t) => {
  const fixture = await startFixture(t)
  await addRoute(fixture)
  const { anna = '', test: address = '', domain = '' } = fixture.names
  t.true((await send(fixture, [`sales@${domain}`, address, `postmaster@${domain}`])).accepted)
  t.is((await fixture.kept()).length, 1)
  const tested = await fixture.database.get(inspectTests, { organizationId }, fixture.testId)
  const [routed, ...more] = await fixture.database.all(inboundMessages, { organizationId })
  t.deepEqual(more, [])
  t.deepEqual(routed?.record.recipients, [`sales@${domain}`])
  for (const stored of [tested?.record.mail?.content, routed?.record.content])
    t.true(stored && Buffer.from(await readWholeContent(fixture.database, organizationId, stored)).equals(content))
  t.like(fixture.events.receptions, [{ testId: fixture.testId, routed: [routed?.record.id], isKept: true }])
  t.true((await send(fixture, [`sales@${domain}`, anna])).accepted)
  t.deepEqual(column(fixture.feedback.taken, 'origin', 'returnPath'), [anna])
  t.is((await fixture.database.all(inboundMessages, { organizationId })).length, 2)
  t.deepEqual(fixture.events.defects, [])
})

test('catch-all route: no mail for postmaster, expired tests or guessed paths', async (t) => {
  const fixture = await startFixture(t)
  await addRoute(fixture)
  const { test: address = '', forged = '', domain = '' } = fixture.names
  t.true((await send(fixture, [`abuse@${domain}`])).accepted)
  fixture.clock.advance(86_400_000)
  for (const gone of [address, forged]) t.like(await send(fixture, [gone]), { accepted: false, reply: { code: 550 } })
  t.deepEqual(await fixture.database.all(inboundMessages, { organizationId }), [])
  t.true((await send(fixture, [`anybody@${domain}`])).accepted)
  t.is((await fixture.database.all(inboundMessages, { organizationId })).length, 1)
})

/** Sends a mail, and runs `meanwhile` before the final dot. */
async function interrupted({ connect }: Fixture, to: readonly string[], meanwhile: () => Promise<unknown>): Promise<string> {
  const client = await connect()
  await client.reply()
  await client.command('EHLO peer.test')
  await client.command('MAIL FROM:<ada@peer.test>')
  for (const one of to) await client.command(`RCPT TO:<${one}>`)
  await client.command('DATA')
  await client.sendApart(content)
  await meanwhile()
  return client.command('.')
}

const routeOf = async ({ database }: Fixture): Promise<Stored<InboundRoute>> =>
  (await database.get(inboundRoutes, { organizationId }, 'inr_1'))!

test('routes: route deleted during DATA defers the mail; the postmaster has it once', async (t) => {
  const fixture = await startFixture(t)
  await addRoute(fixture)
  const { domain = '' } = fixture.names
  const to = [`sales@${domain}`, `postmaster@${domain}`]
  const reply = await interrupted(fixture, to, async () =>
    fixture.database.commit(new Change().remove(inboundRoutes, organizationId, await routeOf(fixture))),
  )
  t.regex(reply, /^451 4\.5\.0 /)
  t.deepEqual(fixture.events.defects, [], 'it is nothing unexpected')
  t.like(await send(fixture, [`sales@${domain}`]), { reply: { code: 550 } })
  t.true((await send(fixture, [`postmaster@${domain}`])).accepted)
  t.is((await fixture.kept()).length, 1)
  t.deepEqual(await fixture.database.all(inboundMessages, { organizationId }), [])
  t.deepEqual(await fixture.unfinished(), [])
})

test('routes: routes disabled during DATA defer the mail', async (t) => {
  const fixture = await startFixture(t)
  await addRoute(fixture)
  const reply = await interrupted(fixture, [`sales@${fixture.names['domain'] ?? ''}`], async () => {
    const stored = (await fixture.database.get(organizations, { organizationId }, organizationId))!
    const off = { ...stored.record, flags: { inbound_routes: false } }
    await fixture.database.commit(new Change().replace(organizations, organizationId, stored, off))
  })
  t.regex(reply, /^451 4\.5\.0 /)
  t.deepEqual(await fixture.database.all(inboundMessages, { organizationId }), [])
})

test('routes: at most ten routes per mail, with any number of their recipients', async (t) => {
  const fixture = await startFixture(t, { limits: { maxRecipients: 100 } })
  const { domain = '' } = fixture.names
  const route = { projectId, webhookUrl: 'https://hooks.example.ch/', sealedSecret: '', createdAt: 1, updatedAt: 1 }
  for (let n = 0; n < 11; n++)
    await fixture.database.commit(
      new Change().insert(inboundRoutes, organizationId, { ...route, id: `inr_${n}`, localPartPattern: `shop${n}+*` }),
    )
  const client = await fixture.connect()
  await client.reply()
  for (const line of ['EHLO peer.test', 'MAIL FROM:<ada@peer.test>']) await client.command(line)
  for (let n = 0; n < 10; n++) t.regex(await client.command(`RCPT TO:<shop${n}+a@${domain}>`), /^250 /)
  t.regex(await client.command(`RCPT TO:<shop10+a@${domain}>`), /^452 4\.5\.3 /)
  t.regex(await client.command(`RCPT TO:<shop0+b@${domain}>`), /^250 /)
  await client.command('DATA')
  client.send(content)
  t.regex(await client.command('.'), /^250 /)
  t.is((await fixture.database.all(inboundMessages, { organizationId })).length, 10)
})

test('Received: names the protocol', async (t) => {
  const fixture = await startFixture(t)
  await addRoute(fixture)
  const say = async (hello: string, parameters = '', isEncrypted = false): Promise<void> => {
    const client = await fixture.connect()
    await client.reply()
    await client.command(hello)
    if (isEncrypted) await client.startTls()
    for (const line of [hello, `MAIL FROM:<ada@peer.test>${parameters}`, `RCPT TO:<sales@${fixture.names['domain'] ?? ''}>`, 'DATA'])
      await client.command(line)
    client.send(content)
    t.regex(await client.command('.'), /^250 /)
  }
  await say('HELO peer.test')
  await say('EHLO peer.test')
  await say('EHLO peer.test', ' SMTPUTF8')
  await say('EHLO peer.test', '', true)
  await say('EHLO peer.test', ' SMTPUTF8', true)
  const mails = await fixture.database.all(inboundMessages, { organizationId })
  const protocols = mails.map(({ record }) => /\(Postern\) with (\w+);/.exec(record.prefix)?.[1])
  t.deepEqual(new Set(protocols), new Set(['SMTP', 'ESMTP', 'UTF8SMTP', 'ESMTPS', 'UTF8SMTPS']))
})

test('Received: marks an IPv6 address', async (t) => {
  const fixture = await startFixture(t, { host: '::1' })
  await addRoute(fixture)
  t.regex(await interrupted(fixture, [`sales@${fixture.names['domain'] ?? ''}`], async () => undefined), /^250 /)
  const [message] = await fixture.database.all(inboundMessages, { organizationId })
  t.regex(message?.record.prefix ?? '', /^Received: from peer\.test \(\[IPv6:::1\]\)/m)
})

test('routes: route changed during DATA applies in its new state', async (t) => {
  const fixture = await startFixture(t)
  await addRoute(fixture)
  const reply = await interrupted(fixture, [`sales@${fixture.names['domain'] ?? ''}`], async () => {
    const stored = await routeOf(fixture)
    const project = (await fixture.database.get(projects, { organizationId }, projectId))!.record
    const change = new Change().insert(projects, organizationId, { ...project, id: 'prj_2' })
    await fixture.database.commit(change.replace(inboundRoutes, organizationId, stored, { ...stored.record, projectId: 'prj_2' }))
  })
  t.regex(reply, /^250 /)
  const [message] = await fixture.database.all(inboundMessages, { organizationId })
  t.is(message?.record.projectId, 'prj_2')
})

test('routes: full quota defers one recipient and not the others', async (t) => {
  const fixture = await startFixture(t)
  await addRoute(fixture)
  const { record, version } = (await fixture.database.get(organizations, { organizationId }, organizationId))!
  const small = { ...record, overrides: { inboundMebibytes: 0 } }
  await fixture.database.commit(new Change().replace(organizations, organizationId, { record, version }, small))
  const { domain = '' } = fixture.names
  const client = await fixture.connect()
  await client.reply()
  for (const line of ['EHLO peer.test', 'MAIL FROM:<ada@peer.test>']) await client.command(line)
  t.regex(await client.command(`RCPT TO:<sales@${domain}>`), /^452 4\.2\.2 /)
  t.regex(await client.command(`RCPT TO:<postmaster@${domain}>`), /^250 /)
})

test('routes: low disk defers mail at each step', async (t) => {
  const admission = { isShort: false, check: () => void 0 }
  admission.check = () => {
    if (admission.isShort) throw new Refusal('storage_full', 'No room.')
  }
  const fixture = await startFixture(t, { admission })
  await addRoute(fixture)
  const client = await fixture.connect()
  await client.reply()
  await client.command('EHLO peer.test')
  const refused = async (line: string, reply: RegExp): Promise<void> => {
    admission.isShort = true
    t.regex(await client.command(line), reply, line)
    admission.isShort = false
  }
  await refused('MAIL FROM:<ada@peer.test>', /^452 4\.3\.1 /)
  await client.command('MAIL FROM:<ada@peer.test>')
  await client.command(`RCPT TO:<sales@${fixture.names['domain'] ?? ''}>`)
  await refused('DATA', /^452 4\.3\.1 /)
  t.regex(await client.command('DATA'), /^354 /)
})
