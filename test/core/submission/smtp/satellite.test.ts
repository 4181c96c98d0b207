/** Bounces of satellites over SMTP submission: permitted authors, and their limit. */
import test, { type ExecutionContext } from '#test'
import { ResolveError, type Resolver } from '#core/outbound/resolver.ts'
import type { SmtpMessage } from '#core/submission/doors/smtp-door.ts'
import { content, doorOf, login, submit } from './smtp-fixture.ts'

/** Fake DNS with one satellite and one bank. */
const names: Resolver = {
  async resolve4(name) {
    if (name === 'slow.example.net') throw new ResolveError('timeout', 'no server answered')
    if (name === 'gone.example.net') throw new ResolveError('not_found', 'no such name')
    return (
      { 'web1.example.net': ['192.0.2.9', '192.0.2.1'], 'bank.example': ['203.0.113.7'], 'local.bank.example': ['127.0.0.1'] }[name] ?? []
    )
  },
  resolve6: async (name) => (name === 'web1.example.net' ? ['2001:db8:0::1'] : []),
}

async function satelliteOf(t: ExecutionContext) {
  const fixture = await doorOf(t, { deaf: false, resolver: names })
  await fixture.credential('right', { allowedFromDomains: ['example.com'], verpEnabled: true })
  const live = await login(fixture)
  t.notThrows(() => live.checkMailFrom(''))
  const bounce = (from: string, helo = 'Web1.example.net', changes: Partial<SmtpMessage> = {}) =>
    submit(live, content.replace('shop@example.com', from), { mailFrom: '', helo, ...changes })
  return { fixture, bounce }
}

test('satellite: accepts bounces from its own domain or its verified EHLO name', async (t) => {
  const { fixture, bounce } = await satelliteOf(t)
  const { traceId, outcome } = await bounce('MAILER-DAEMON@web1.example.net (Mail Delivery System)')
  t.is(outcome, 'relayed')
  await fixture.settled()
  t.true(
    fixture.attempted.some(({ trace }) => trace.id === traceId),
    'sent',
  )
  t.is(fixture.transport.calls.find(({ job }) => job.traceId === traceId)?.job.mailFrom, '')
  t.is((await bounce('Shop <bounces@example.com>')).outcome, 'relayed')
  for (const foreign of ['MAILER-DAEMON@web2.example.net', 'anna@web1.example.net', 'postmaster@other.test', '', 'a@example.com, b@x.test'])
    await t.throwsAsync(bounce(foreign), { code: 'sender_not_allowed' }, foreign)
  for (const remoteAddress of ['::ffff:192.0.2.1', '2001:db8::1'])
    t.is((await bounce('postmaster@web1.example.net', undefined, { remoteAddress })).outcome, 'relayed', remoteAddress)
})

test('satellite: a tenant cannot write as the postmaster of another domain by EHLO', async (t) => {
  const { bounce } = await satelliteOf(t)
  const daemonOf = (name: string, remoteAddress = '192.0.2.1') => bounce(`MAILER-DAEMON@${name}`, name, { remoteAddress })
  const refused = {
    code: 'sender_not_allowed',
    message: /^A message with the null reverse-path must be from an address at example\.com, or/,
  }
  for (const name of ['bank.example', 'gone.example.net', 'web1.example.net.bank.example', 'notexample.com'])
    await t.throwsAsync(daemonOf(name), refused, name)
  await t.throwsAsync(daemonOf('web1.example.net', '192.0.2.8'), refused, 'a neighbor')
  // local programs, whose names DNS does not have
  for (const name of ['local.bank.example', 'bank.example', 'web1.example.net'])
    await t.throwsAsync(daemonOf(name, '127.0.0.1'), refused, name)
  await t.throwsAsync(daemonOf('web1.example.net', ''), refused, 'nobody')
  await t.throwsAsync(daemonOf('slow.example.net'), { code: 'feature_unavailable', message: /^The DNS lookup of slow\.example\.net/ })
  const sender = { code: 'sender_not_allowed', message: /^A Sender or Resent-From boss@bank\.example is not allowed/ }
  await t.throwsAsync(bounce('shop@example.com\r\nSender: boss@bank.example'), sender)
})

test('satellite: accepts names of own domains, this machine, or outside public DNS', async (t) => {
  const { bounce } = await satelliteOf(t)
  for (const name of ['web7.example.com', 'web1', 'cms.local', 'nas.home.arpa', 'ip-10-0-0-7.ec2.internal'])
    t.is((await bounce(`MAILER-DAEMON@${name}`, name)).outcome, 'relayed', name)
  t.is((await bounce('postmaster@mx.postern.test', 'mx.postern.test', { remoteAddress: '127.0.0.1' })).outcome, 'relayed')
})

test('satellite: accepts bounces without a domain in From, as dma writes them', async (t) => {
  const { fixture, bounce } = await satelliteOf(t)
  for (const from of ['MAILER-DAEMON <>', '<>', 'MAILER-DAEMON', 'Mail System <postmaster>'])
    t.is((await bounce(from)).outcome, 'relayed', from)
  await t.throwsAsync(bounce('root'), { code: 'sender_not_allowed', message: /root@Web1\.example\.net is neither\.$/ })
  t.is((await bounce('MAILER-DAEMON <>', 'web1')).outcome, 'relayed', 'a name outside public DNS')
  const foreign = { code: 'sender_not_allowed', message: /postmaster@bank\.example is neither\.$/ }
  await t.throwsAsync(bounce('MAILER-DAEMON <>', 'bank.example'), foreign, 'the postmaster of another domain')
  await t.throwsAsync(bounce('MAILER-DAEMON <>', '[192.0.2.1]'), { code: 'sender_not_allowed' })
  await fixture.credential('right', { allowedFromDomains: [] })
  t.is((await bounce('MAILER-DAEMON <>', '[192.0.2.1]')).outcome, 'relayed', 'a login without allowed domains')
})

test('SMTP login: accepts an author without a domain, as cron writes it', async (t) => {
  const fixture = await doorOf(t)
  await fixture.credential('right', { allowedFromDomains: ['example.com'] })
  const live = await login(fixture)
  const from = (field: string) => submit(live, content.replace('shop@example.com', field))
  for (const field of ['root (Cron Daemon)', '"(Cron Daemon)" <root>', 'root', '<root>', 'Cron Daemon <root>', 'root\r\nSender: root'])
    t.is((await from(field)).outcome, 'relayed', field)
  const single = (field: string) =>
    `The header From must contain exactly one address for this SMTP credential, and is ${JSON.stringify(field)}.`
  for (const field of [
    'root, boss@bank.example',
    '"boss@bank.example" <root>',
    'boss@bank.example (x) <root>',
    '<>',
    `${'x'.repeat(60)} <root`,
  ])
    await t.throwsAsync(from(field), { code: 'sender_not_allowed', message: single(field) }, field)
  await t.throwsAsync(from('root\r\nSender: boss@bank.example'), {
    code: 'sender_not_allowed',
    message: /^A Sender or Resent-From boss@bank/,
  })
  await t.throwsAsync(from(`"${'x'.repeat(400)}" <root>`), { code: 'sender_not_allowed' }, 'too long to parse')
})

test('satellite: makes at most one DNS lookup per accepted bounce', async (t) => {
  const { bounce } = await satelliteOf(t)
  const claim = () => bounce('MAILER-DAEMON@bank.example', 'bank.example')
  for (let tried = 0; tried < 100; tried++) await t.throwsAsync(claim(), { code: 'sender_not_allowed' })
  await t.throwsAsync(claim(), { code: 'rate_limit_exceeded' })
})

test('satellite: limits the bounces of a credential per hour', async (t) => {
  const fixture = await doorOf(t)
  const live = await login(fixture)
  const bounce = () => submit(live, content, { mailFrom: '' })
  for (let sent = 0; sent < 100; sent++) await bounce()
  await t.throwsAsync(bounce(), {
    code: 'rate_limit_exceeded',
    message: 'This SMTP credential has sent 100 bounces within this hour, the maximum; send the rest later.',
  })
  t.is((await submit(live)).outcome, 'relayed', 'other mail is accepted')
  fixture.clock.advance(3_600_000)
  t.is((await bounce()).outcome, 'relayed')
})
