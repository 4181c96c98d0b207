/** SMTP submission in the core: logins, permissions of a live session, and added header fields. */
import test from '#test'
import { keyUses } from '#core/access/keys/key-uses.ts'
import { smtpCredentials } from '#core/access/smtp-credential.ts'
import { destinations } from '#core/routing/destination.ts'
import { Refusal } from '#core/refusals.ts'
import { serviceRef } from '#core/trace/trace-token.ts'
import { readWholeContent } from '#store/content.ts'
import { organizationId, principal, secrets, type CoreFixture } from '../../core-fixture.ts'
import { content, doorOf, login, submit } from './smtp-fixture.ts'
import { startOfTime } from '../../../support/fake-clock.ts'
import { contentOf } from '../../scripted-transport.ts'

const refusedLogin = { code: 'unauthorized', message: 'Authentication failed; check the user name and password of the SMTP credential.' }
const refusedSession = {
  code: 'unauthorized',
  message: 'This SMTP credential was revoked or rotated, or has expired; log in with an active one.',
}

test('login(): unknown user, wrong password and expired credential get the same reply', async (t) => {
  const fixture = await doorOf(t)
  await fixture.credential('old', { id: 'crd_2', username: 'expired', expiresAt: startOfTime })
  await t.throwsAsync(login(fixture, 'right', 'nobody'), refusedLogin)
  await t.throwsAsync(login(fixture, 'wrong'), refusedLogin)
  await t.throwsAsync(login(fixture, '', ''), refusedLogin)
  await t.throwsAsync(login(fixture, 'old', 'expired'), refusedLogin)
  await t.throwsAsync(login(fixture, 'x'.repeat(100_000), 'y'.repeat(100_000)), refusedLogin)
  await fixture.remove(smtpCredentials, 'crd_1')
  await t.throwsAsync(login(fixture), refusedLogin)
})

test('login(): accepts the right password and delays guessing', async (t) => {
  const fixture = await doorOf(t)
  const lastLogin = async () => (await fixture.part('credentials').get(principal, 'crd_1')).lastLoginAt
  t.is(await lastLogin(), null)
  const live = await login(fixture)
  t.like(live, { credentialId: 'crd_1', username: 'cms-user' })
  t.is(await lastLogin(), startOfTime)
  for (let i = 0; i < 20; i++) await t.throwsAsync(login(fixture, `guess ${i}`), refusedLogin)
  t.truthy(await login(fixture), 'from where it logged in before')
  for (let i = 0; i < 20; i++) await t.throwsAsync(login(fixture, `guess ${i}`), refusedLogin)
  await t.throwsAsync(login(fixture, 'right', 'cms-user', '192.0.2.2'), { code: 'rate_limit_exceeded' })
  fixture.clock.advance(15 * 60_000)
  t.truthy(await login(fixture))
})

test('submit(): accepts a message for the default destination of the credential', async (t) => {
  const fixture = await doorOf(t)
  await fixture.destination({ id: 'dst_2', name: 'Other' })
  await fixture.rule({ any: true }, 'dst_2')
  const acceptance = await submit(await login(fixture), content, { eightBit: true, mailFrom: 'bounce@example.com' })
  t.is(acceptance.outcome, 'relayed')
  const trace = await fixture.trace(acceptance.traceId)
  t.like(trace, {
    door: 'smtp',
    submittedBy: 'crd_1',
    destinationId: 'dst_1',
    mailFrom: 'bounce@example.com',
    headerFrom: 'shop@example.com',
    subject: 'hi',
    messageId: 'a@b',
    eightBit: true,
    route: { by: 'credential', ruleId: null, reason: 'The SMTP credential selects the destination Provider.' },
  })
  t.is(Buffer.from(await readWholeContent(fixture.database, organizationId, trace.content)).toString(), content)
})

test('submit(): accepts a message for the environment of the credential', async (t) => {
  const fixture = await doorOf(t)
  await fixture.destination({ id: 'dst_2', name: 'Second', environment: 'production', priority: 5 })
  await fixture.credential('right', { defaultDestinationId: null, environment: 'production' })
  const { traceId } = await submit(await login(fixture), content)
  t.like(await fixture.trace(traceId), { destinationId: 'dst_2', route: { by: 'credential', environment: 'production' } })
})

test('submit(): adds Received, and Message-ID and Date only if missing', async (t) => {
  const fixture = await doorOf(t, { deaf: false })
  const live = await login(fixture)
  const prefixOf = async (text: string, helo = 'cms.example') => {
    const { traceId } = await submit(live, text, { helo, protocol: 'ESMTPA' })
    await fixture.settled()
    t.true(
      fixture.attempted.some(({ trace }) => trace.id === traceId),
      'sent',
    )
    const call = fixture.transport.calls.find(({ job }) => job.traceId === traceId)
    const sent = call ? (await contentOf(call)).toString() : ''
    t.true(sent.endsWith(text), 'unchanged after our own fields')
    const reference = `X-Service-Ref: ${serviceRef(secrets, traceId)}\r\n`
    t.true(sent.endsWith(reference + text))
    return { traceId, prefix: sent.slice(0, sent.length - text.length - reference.length) }
  }
  const date = 'Tue, 15 Jan 2030 12:00:00 +0000'
  const whole = await prefixOf(content)
  t.is(whole.prefix, `Received: from cms.example\r\n\tby mx.postern.test (Postern) with ESMTPA id ${whole.traceId};\r\n\t${date}\r\n`)
  const bare = await prefixOf('Subject: x\r\n\r\nhello')
  t.true(bare.prefix.endsWith(`Message-ID: <${bare.traceId}@mx.postern.test>\r\nDate: ${date}\r\n`))
  t.is((await fixture.trace(bare.traceId)).messageId, `${bare.traceId}@mx.postern.test`)
  const hostile = await prefixOf(content, 'a\r\nBcc: q@evil.test (x) <y>'.padEnd(1000, 'z'))
  t.regex(hostile.prefix, /^Received: from a\?\?Bcc:\?q\?evil\.test\?\?x\?\?\?y\?z{200,}\r\n\tby /)
  t.is((await prefixOf(content, '')).prefix.split('\r\n')[0], 'Received: from unknown')
})

test('submit(): refuses a deleted default destination', async (t) => {
  const fixture = await doorOf(t)
  const live = await login(fixture)
  t.is((await submit(live)).outcome, 'relayed')
  await fixture.remove(destinations, 'dst_1')
  await t.throwsAsync(submit(live), {
    code: 'destination_misconfigured',
    message: 'The default destination of this SMTP credential no longer exists; set another one.',
  })
})

test('submit(): uses rules, default sender and no-route policy without a destination', async (t) => {
  const fixture = await doorOf(t)
  await fixture.credential('right', { defaultDestinationId: null })
  const live = await login(fixture)
  t.notThrows(() => live.checkMailFrom('shop@example.com'))
  t.like(await submit(live), { outcome: 'captured.no_route' })
  await fixture.destination({ id: 'dst_2', name: 'House', projectId: 'prj_2', shared: 'org_default' })
  await fixture.rule({ from: 'billing@example.com' })
  const byDefault = await fixture.trace((await submit(live)).traceId)
  t.like(byDefault, { outcome: 'relayed', destinationId: 'dst_2', route: { by: 'org_default' } })
  const billing = content.replace('shop@', 'billing@')
  t.like(await fixture.trace((await submit(live, billing)).traceId), { destinationId: 'dst_1', route: { by: 'rule' } })
  await fixture.destination({ id: 'dst_2', projectId: 'prj_2', shared: 'org' })
  t.like(await submit(live), { outcome: 'captured.no_route' })
  await fixture.project({ noRoutePolicy: 'reject' })
  await t.throwsAsync(submit(live), { code: 'no_route' })
  await fixture.credential('right', { defaultDestinationId: 'dst_2' })
  t.like(await fixture.trace((await submit(await login(fixture))).traceId), { destinationId: 'dst_2', route: { by: 'credential' } })
})

test('submit(): captures for a destination in sandbox mode', async (t) => {
  const fixture = await doorOf(t)
  await fixture.destination({ mode: 'sandbox' })
  t.is((await submit(await login(fixture))).outcome, 'captured.sandbox_destination')
})

for (const { title, change } of [
  { title: 'revoked', change: (fixture: CoreFixture) => fixture.remove(smtpCredentials, 'crd_1') },
  { title: 'rotated', change: (fixture: CoreFixture) => fixture.credential('new') },
  { title: 'expired', change: (fixture: CoreFixture) => fixture.credential('right', { expiresAt: fixture.clock.now() }) },
] as { title: string; change: (fixture: CoreFixture) => Promise<unknown> }[]) {
  test(`submit(): ends a session whose credential was ${title}, and stores nothing`, async (t) => {
    const fixture = await doorOf(t)
    const live = await login(fixture)
    await submit(live)
    await change(fixture)
    const before = await fixture.keys('')
    await t.throwsAsync(submit(live), refusedSession)
    await t.throwsAsync(submit(live, content + 'x'.repeat(600_000)), refusedSession)
    t.deepEqual(await fixture.keys(''), before)
  })
}

test('submit(): applies limits changed during the session', async (t) => {
  const fixture = await doorOf(t, { maxMessageBytes: 5000 })
  const live = await login(fixture)
  t.is(live.maxMessageBytes(), 5000)
  await fixture.credential('right', { maxMessageBytes: 200, maxRatePerMin: 1, allowedFromDomains: ['example.com'] })
  await t.throwsAsync(submit(live, content + 'x'.repeat(200)), {
    code: 'request_too_large',
    message: `The message has ${content.length + 200} bytes; this SMTP credential allows 200.`,
  })
  t.is(live.maxMessageBytes(), 200)
  t.is((await submit(live)).outcome, 'relayed')
  await t.throwsAsync(submit(live), { code: 'rate_limit_exceeded' })
  t.throws(() => live.checkMailFrom('a@other.example'), { code: 'sender_not_allowed' })
})

test('checkMailFrom(): applies the whitelist of the credential', async (t) => {
  const fixture = await doorOf(t)
  const domains = ['example.com', 'xn--bcher-kva.example', ...Array.from({ length: 10 }, (_, i) => `d${i}.example`)]
  await fixture.credential('right', { allowedFromDomains: domains })
  const live = await login(fixture)
  for (const good of ['shop@example.com', 'Shop@EXAMPLE.com', 'x@Bücher.example']) t.notThrows(() => live.checkMailFrom(good))
  t.throws(() => live.checkMailFrom('shop@sub.example.com'), {
    code: 'sender_not_allowed',
    message:
      'MAIL FROM shop@sub.example.com is not allowed for this SMTP credential; use an address at example.com, xn--bcher-kva.example, d0.example, d1.example, d2.example.',
  })
  for (const bad of ['shop@example.com.evil.test', 'shop@notexample.com', '"shop@example.com"@evil.test']) {
    t.throws(() => live.checkMailFrom(bad), { code: 'sender_not_allowed' }, bad)
  }
})

test('submit(): applies the whitelist to the header From unless exempt', async (t) => {
  const fixture = await doorOf(t)
  await fixture.credential('right', { allowedFromDomains: ['example.com'] })
  const live = await login(fixture)
  const from = (fields: string) => submit(live, `${fields}Subject: x\r\n\r\nFrom: shop@example.com\r\n`)
  t.is((await from('From: Shop <shop@example.com>\r\n')).outcome, 'relayed')
  t.is((await from('From: Shop\r\n\t<shop@example.com>\r\nSender: desk@example.com\r\n')).outcome, 'relayed')
  const other = { code: 'sender_not_allowed', message: /^A Sender or Resent-From boss@evil\.test is not allowed/ }
  await t.throwsAsync(from('From: shop@example.com\r\nSender: boss@evil.test\r\n'), other)
  await t.throwsAsync(from('From: shop@example.com\r\nResent-From: boss@evil.test\r\n'), other)
  const elsewhere = { code: 'sender_not_allowed', message: /^The header From boss@evil\.test is not allowed for this SMTP credential/ }
  await t.throwsAsync(from('From: boss@evil.test\r\n'), elsewhere)
  await t.throwsAsync(from('From: "shop@example.com" <boss@evil.test>\r\n'), elsewhere)
  const one = { code: 'sender_not_allowed', message: 'The message needs exactly one From header field for this SMTP credential.' }
  await t.throwsAsync(from(''), one)
  await t.throwsAsync(from('From: shop@example.com\r\nfrom : boss@evil.test\r\n'), one)
  const unreadable = { code: 'sender_not_allowed', message: /^The header From must contain exactly one address/ }
  await t.throwsAsync(from('From: shop@example.com, boss@evil.test\r\n'), unreadable)
  await t.throwsAsync(from('From: x:shop@example.com;\r\n'), unreadable)
  const filler = `X-Filler: ${'x'.repeat(900)}\r\n`.repeat(320)
  await t.throwsAsync(from(`From: shop@example.com\r\n${filler}From: boss@evil.test\r\n`), {
    code: 'sender_not_allowed',
    message: 'The header block is too long to find its From; use a shorter one.',
  })
  await fixture.credential('right', { allowedFromDomains: ['example.com'], enforceHeaderFrom: false })
  t.is((await from('From: boss@evil.test\r\n')).outcome, 'relayed')
})

test('login(): refuses everything while the service accepts no messages', async (t) => {
  let open = true
  const check = (): void => {
    if (!open) throw new Refusal('overloaded', 'Too much to do; try again soon.')
  }
  const fixture = await doorOf(t, { admission: { check } })
  const live = await login(fixture)
  open = false
  t.throws(() => fixture.door.checkOpen(), { code: 'overloaded' })
  t.throws(() => live.checkMailFrom('shop@example.com'), { code: 'overloaded' })
  await t.throwsAsync(submit(live), { code: 'overloaded' })
  open = true
  t.is((await submit(live)).outcome, 'relayed')
})

test('turn(): delays only the credential beyond its share', async (t) => {
  const fixture = await doorOf(t)
  await fixture.credential('right', { id: 'crd_2', username: 'other-user' })
  const [live, other] = [await login(fixture), await login(fixture, 'right', 'other-user')]
  t.is(other.turn(), undefined)
  const work = fixture.part('fairness').begin({ address: '192.0.2.1', kind: 'submission' })
  work.belongsTo({ credentialId: live.credentialId, organizationId })
  t.is(work.turn(), undefined)
  work.spend(60_000)
  const refused = t.throwsAsync(live.turn() ?? Promise.resolve(), { code: 'rate_limit_exceeded' })
  t.is(other.turn(), undefined)
  fixture.clock.advance(2000)
  await refused
})

test('openReading(): delays a credential beyond its share, and refuses nothing', async (t) => {
  const fixture = await doorOf(t)
  await fixture.credential('right', { id: 'crd_2', username: 'other-user' })
  const [live, other] = [await login(fixture), await login(fixture, 'right', 'other-user')]
  const [reading, otherReading] = [live.openReading(), other.openReading()]
  t.deepEqual([reading.pace(), otherReading.pace()], [undefined, undefined])
  const work = fixture.part('fairness').begin({ address: '192.0.2.1', kind: 'submission' })
  work.belongsTo({ credentialId: live.credentialId, organizationId })
  t.is(work.turn(), undefined)
  work.spend(60_000)
  const pause = reading.pace()
  t.truthy(pause)
  t.is(otherReading.pace(), undefined)
  fixture.clock.advance(2000)
  t.is(await pause, undefined)
})

test('checkMailFrom(): refuses a login that was revoked or rotated during the session', async (t) => {
  const fixture = await doorOf(t)
  const live = await login(fixture)
  await fixture.remove(smtpCredentials, 'crd_1')
  await fixture.policies.of(organizationId)
  t.throws(() => live.checkMailFrom('shop@example.com'), { code: 'unauthorized' })
})

test('openDraft(): discard() has no effect after submission', async (t) => {
  const fixture = await doorOf(t)
  const live = await login(fixture)
  const draft = live.openDraft()
  const bytes = Buffer.from(content + 'x'.repeat(700_000))
  await draft.write(bytes)
  t.is(draft.size, bytes.length)
  const head = bytes.subarray(0, 200)
  const envelope = {
    mailFrom: 'shop@example.com',
    rcptTo: ['anna@example.net'],
    eightBit: false,
    helo: 'x',
    remoteAddress: '192.0.2.1',
    protocol: 'ESMTPA',
  } as const
  const submitted = live.submit({ ...envelope, draft, head })
  await draft.discard() // the client disconnected during acceptance
  const { traceId } = await submitted
  await draft.discard()
  const trace = await fixture.trace(traceId)
  t.is(Buffer.compare(await readWholeContent(fixture.database, organizationId, trace.content), bytes), 0)
})

test('openDraft(): a discarded draft leaves nothing', async (t) => {
  const fixture = await doorOf(t)
  const rows = async () => (await fixture.keys('')).filter((key) => !key.includes(keyUses.name))
  const before = await rows()
  const draft = (await login(fixture)).openDraft()
  await draft.write(Buffer.alloc(700_000))
  await draft.discard()
  t.deepEqual(await rows(), before)
  t.true(secrets.matches('right', secrets.hash('right')))
})

test('login(): accepts a user name with other case and surrounding blanks', async (t) => {
  const fixture = await doorOf(t)
  const { username } = await login(fixture)
  for (const given of [` ${username}`, `${username}\t`, username.toUpperCase()])
    t.is((await fixture.door.login(given, 'right', '192.0.2.1')).username, username, JSON.stringify(given))
  await t.throwsAsync(fixture.door.login(username, ' right', '192.0.2.1'), { code: 'unauthorized' })
})

test('login(): wrong logins from an address do not block other logins from it', async (t) => {
  const fixture = await doorOf(t)
  await fixture.credential('right')
  for (let wrong = 0; wrong < 60; wrong++) {
    const code = wrong < 50 ? 'unauthorized' : 'rate_limit_exceeded'
    await t.throwsAsync(fixture.door.login(`smtp_wrong${wrong % 30}`, 'x', '192.0.2.1'), { code }, String(wrong))
  }
  t.is((await login(fixture)).credentialId, 'crd_1')
})

const withFile = `${content.slice(0, content.indexOf('\r\n\r\n'))}\r\nContent-Type: application/pdf; name=bill.pdf\r\n\r\nJVBERi0=\r\n`

test('submit(): refuses files if the plan excludes them, and stores nothing', async (t) => {
  const fixture = await doorOf(t)
  const live = await login(fixture)
  await fixture.organization({ plan: 'pro' })
  t.is((await submit(live, withFile)).outcome, 'relayed')
  await fixture.organization({ plan: 'basic' })
  const before = await fixture.keys('')
  const message = 'The plan basic sends no attachments; link to the files, or raise the plan to pro or enterprise.'
  await t.throwsAsync(submit(live, withFile), { code: 'feature_disabled', message })
  t.deepEqual(await fixture.keys(''), before)
  t.is((await submit(live)).outcome, 'relayed')
})
