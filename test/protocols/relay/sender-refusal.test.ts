/** Refusals of the reverse-path, as opposed to the recipient or the content, over a real socket. */
import test from '#test'
import { jobOf, targetOf, testSink, testTransport } from './relay-fixture.ts'
import type { SinkStep } from '../../support/smtp/sink-script.ts'

const cases: readonly [SinkStep, string, boolean][] = [
  ['mail', '550 5.7.1 Access denied', true],
  ['mail', '553 sorry, your envelope sender is not allowed', true],
  ['mail', '501 5.1.8 Bad sender', true],
  ['mail', '552 5.3.4 Message size exceeds fixed limit', false],
  ['mail', '530 5.7.0 Authentication required', false],
  ['mail', '451 4.7.1 Sender rate limited', false],
  ['rcpt', '553 5.7.1 <x@y>: Sender address rejected: not owned by user shop', true],
  ['rcpt', '550 Sender verify failed', true],
  ['rcpt', '550 5.1.8 No such domain', true],
  ['rcpt', '550 5.1.1 No such user', false],
  ['rcpt', '554 5.7.1 Relay access denied', false],
  ['rcpt', '450 4.1.8 Sender address rejected: domain not found', false],
  ['dot', '554 5.2.252 SendAsDenied; shop@site.test not allowed to send as x@y', true],
  ['dot', '550 5.7.60 SMTP; Client does not have permissions to send as this sender', true],
  ['dot', '550 5.7.1 Message content rejected as spam from this sender', false],
]

for (const offers of [['PIPELINING'], []]) {
  for (const [step, reply, expected] of cases) {
    test(`deliver(): ${offers[0] ?? 'plain'}: ${reply} at ${step} is ${expected ? '' : 'not '}a sender refusal`, async (t) => {
      const sink = await testSink(t, { offers, script: (name) => (name === step ? reply : undefined) })
      const { recipients } = await testTransport(t).deliver(targetOf(sink), jobOf())
      t.is(recipients[0]?.verdict, reply.startsWith('4') ? 'transient' : 'permanent')
      t.is(recipients[0]?.ofSender, expected ? true : undefined)
    })
  }
}

test('deliver(): an accepted recipient is not marked as a sender refusal', async (t) => {
  const sink = await testSink(t, { script: (step) => (step === 'dot' ? '250 2.0.0 sender ok' : undefined) })
  const { recipients } = await testTransport(t).deliver(targetOf(sink), jobOf())
  t.deepEqual(recipients, [{ address: 'one@peer.test', verdict: 'accepted', reply: { code: 250, enhanced: '2.0.0', text: 'sender ok' } }])
})
