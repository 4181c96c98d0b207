import { connect } from 'node:net'
import test from '#test'
import type { AttemptReport, SmtpTarget } from '#core/delivery/transport.ts'
import { otherCertificate } from './certificates.ts'
import { jobOf, targetOf, testSink, testTransport } from './relay-fixture.ts'
import type { SinkOptions } from '../../support/smtp/sink-script.ts'
import { columns } from '../../support/column.ts'

const summary = ({ recipients, error }: AttemptReport): readonly unknown[] => [recipients[0]?.verdict, error?.code, error?.phase]

for (const security of ['tls', 'starttls'] as const) {
  test(`deliver(): ${security} uses TLS with a verified certificate`, async (t) => {
    const sink = await testSink(t, { security })
    const report = await testTransport(t).deliver(targetOf(sink, { security }), jobOf())
    t.is(report.recipients[0]?.verdict, 'accepted')
    t.regex(report.tls?.version ?? '', /^TLSv1\.[23]$/)
    t.is(report.tls?.verified, true)
    t.true(sink.deliveries[0]?.secured)
    t.is(sink.lines.filter((line) => line.startsWith('EHLO')).length, security === 'tls' ? 1 : 2)
  })

  test(`deliver(): ${security} fails with an unverified certificate, unless insecure`, async (t) => {
    const sink = await testSink(t, { security })
    const target = targetOf(sink, { security, username: 'me', password: 'topsecret' })
    const report = await testTransport(t, { trusted: [] }).deliver(target, jobOf())
    t.deepEqual(summary(report), ['transient', 'tls_verification_failed', 'tls'])
    t.is(report.address, '127.0.0.1')
    const insecure = await testTransport(t, { trusted: [] }).deliver(targetOf(sink, { security, tlsPolicy: 'insecure' }), jobOf())
    t.is(insecure.recipients[0]?.verdict, 'accepted')
    t.is(insecure.tls?.verified, false)
    t.is(sink.deliveries.length, 1)
  })

  test(`deliver(): ${security} fails with a certificate for another name`, async (t) => {
    const sink = await testSink(t, { security, certificate: otherCertificate })
    t.deepEqual(summary(await testTransport(t).deliver(targetOf(sink, { security }), jobOf())), [
      'transient',
      'tls_verification_failed',
      'tls',
    ])
  })

  test(`deliver(): ${security} verifies an address literal`, async (t) => {
    const sink = await testSink(t, { security })
    const report = await testTransport(t).deliver(targetOf(sink, { security, host: '127.0.0.1' }), jobOf())
    t.is(report.tls?.verified, true)
  })
}

test('deliver(): starttls sends nothing to a peer without STARTTLS', async (t) => {
  const without = await testSink(t)
  const saying = (reply: string) => testSink(t, { security: 'starttls', script: (step) => (step === 'starttls' ? reply : undefined) })
  const [never, later] = [await saying('502 5.5.1 No'), await saying('454 4.7.0 Not now')]
  for (const [sink, code] of [
    [without, 'starttls_unavailable'],
    [never, 'starttls_unavailable'],
    [later, 'starttls_deferred'],
  ] as const) {
    const target = targetOf(sink, { security: 'starttls', username: 'me', password: 'topsecret' })
    t.deepEqual(summary(await testTransport(t).deliver(target, jobOf())), ['transient', code, 'tls'])
    t.false(sink.lines.some((line) => /AUTH|MAIL/.test(line)))
  }
})

for (const more of ['250 injected\r\n', '250 inj']) {
  test(`deliver(): starttls refuses clear-text bytes after the reply: ${JSON.stringify(more)}`, async (t) => {
    const script = (step: string): string | undefined => (step === 'starttls' ? `220 Go on\r\n${more.trimEnd()}` : undefined)
    const sink = await testSink(t, { security: 'starttls', script })
    if (!more.endsWith('\n')) {
      sink.script = (step, _line, { socket }) => {
        if (step === 'starttls') socket.write(`220 Go on\r\n${more}`)
        return step === 'starttls' ? { act: 'hold' } : undefined
      }
    }
    const report = await testTransport(t).deliver(targetOf(sink, { security: 'starttls' }), jobOf())
    t.is(report.error?.code, 'protocol_error')
    t.deepEqual(sink.deliveries, [])
  })
}

test('deliver(): tls fails with a plain-text peer', async (t) => {
  const sink = await testSink(t)
  t.deepEqual(summary(await testTransport(t).deliver(targetOf(sink, { security: 'tls' }), jobOf())), ['transient', 'tls_failed', 'tls'])
})

const long = 'p'.repeat(600)
const mechanisms: readonly (readonly [string, string, readonly string[]])[] = [
  ['AUTH PLAIN LOGIN', 'topsecret', ['AUTH PLAIN AG1lAHRvcHNlY3JldA==']],
  ['AUTH=LOGIN', 'topsecret', ['AUTH LOGIN']],
  ['AUTH login', 'topsecret', ['AUTH LOGIN']],
  ['AUTH PLAIN', long, ['AUTH PLAIN']],
]

for (const [offer, password, lines] of mechanisms) {
  test(`deliver(): signs in with ${offer} (${password.length} characters)`, async (t) => {
    const sink = await testSink(t, { offers: [offer], security: 'starttls', users: { me: password } })
    const target = targetOf(sink, { security: 'starttls', username: 'me', password })
    t.is((await testTransport(t).deliver(target, jobOf())).recipients[0]?.verdict, 'accepted')
    t.deepEqual(
      sink.lines.filter((line) => line.startsWith('AUTH')),
      lines,
    )
  })
}

async function attempt(t: Parameters<typeof testSink>[0], options: SinkOptions, changes: Partial<SmtpTarget> = {}): Promise<AttemptReport> {
  const sink = await testSink(t, { security: 'starttls', users: { me: 'right' }, ...options })
  const target = targetOf(sink, { security: 'starttls', username: 'me', password: 'topsecret', ...changes })
  const report = await testTransport(t).deliver(target, jobOf())
  t.deepEqual(sink.deliveries, [])
  t.false(/topsecret|dG9wc2VjcmV0|AG1lAHRvcHNlY3JldA/.test(JSON.stringify(report)))
  return report
}

test('deliver(): refused password is transient and never in the report', async (t) => {
  const report = await attempt(t, {})
  t.deepEqual(summary(report), ['transient', 'auth_failed', 'auth'])
  t.deepEqual(report.recipients[0]?.reply, { code: 535, enhanced: '5.7.8', text: 'Wrong: (removed) (removed)' })
})

test('deliver(): other results of AUTH', async (t) => {
  const later = await attempt(t, { script: (step) => (step === 'auth' ? '454 4.7.0 Later' : undefined) })
  t.deepEqual(summary(later), ['transient', 'auth_deferred', 'auth'])
  t.deepEqual(summary(await attempt(t, { offers: ['AUTH GSSAPI'] })), ['transient', 'auth_unavailable', 'auth'])
  const closing = await attempt(t, { script: (step) => (step === 'auth' ? '421 4.7.0 Enough' : undefined) })
  t.deepEqual(summary(closing), ['transient', 'peer_closing', 'auth'])
})

test('deliver(): credentials without TLS only on loopback', async (t) => {
  const sink = await testSink(t, { users: { me: 'secret' } })
  const target = targetOf(sink, { username: 'me', password: 'secret' })
  t.is((await testTransport(t).deliver(target, jobOf())).recipients[0]?.verdict, 'accepted')
  // The same sink at an address of a private network, which the operator has allowed.
  const resolver = { resolve4: () => Promise.resolve(['10.0.0.1']), resolve6: () => Promise.resolve([]) }
  const elsewhere = testTransport(t, { resolver, guard: () => true, dial: (_address, port) => connect({ host: '127.0.0.1', port }) })
  t.deepEqual(summary(await elsewhere.deliver(target, jobOf())), ['transient', 'auth_needs_tls', 'auth'])
  t.is(sink.lines.filter((line) => line.startsWith('AUTH')).length, 1)
})

test('probe(): names the hosts of a certificate for another host', async (t) => {
  const sink = await testSink(t, { security: 'tls', certificate: otherCertificate })
  const steps = await testTransport(t).probe(targetOf(sink, { security: 'tls' }), new AbortController().signal)
  t.like(steps.at(-1), { step: 'tls', ok: false, code: 'tls_verification_failed', certificateNames: ['other.test'] })
})

test('probe(): reports every step, sends no message, reveals no secret', async (t) => {
  const sink = await testSink(t, { security: 'starttls', users: { me: 'topsecret' } })
  const transport = testTransport(t)
  const { signal } = new AbortController()
  const good = await transport.probe(targetOf(sink, { security: 'starttls', username: 'me', password: 'topsecret' }), signal)
  t.deepEqual(columns(good, 'step', 'ok'), [
    ['resolve', true],
    ['connect', true],
    ['greeting', true],
    ['tls', true],
    ['auth', true],
    ['ready', true],
  ])
  const bad = await transport.probe(targetOf(sink, { security: 'starttls', username: 'me', password: 'wrongsecret' }), signal)
  t.deepEqual(bad.map(({ step, ok }) => [step, ok]).at(-1), ['auth', false])
  t.like(bad.at(-1), { code: 'auth_failed' })
  t.regex(bad.at(-1)?.reply ?? '', /^535 /)
  const unknown = await transport.probe(targetOf(sink, { host: 'nowhere.test' }), signal)
  t.deepEqual(columns(unknown, 'step', 'ok', 'detail'), [['resolve', false, 'The host name has no address.']])
  t.false(/secret/.test(JSON.stringify([good, bad])))
  t.false(sink.lines.some((line) => line.startsWith('MAIL')))
  await sink.open(0)
})
