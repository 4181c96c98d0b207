/** Every fault at every step of the dialog, with and without pipelining: the verdict of the recipient, and the error. */
import test from '#test'
import type { AttemptReport } from '#core/delivery/transport.ts'
import { jobOf, targetOf, testSink, testTransport } from './relay-fixture.ts'
import type { SinkAnswer, SinkStep } from '../../support/smtp/sink-script.ts'
import { column } from '../../support/column.ts'

const steps = ['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'body', 'dot'] as const
type Step = (typeof steps)[number]

const faults: Readonly<Record<string, SinkAnswer>> = {
  drop: { act: 'drop' },
  reset: { act: 'reset' },
  endless: { act: 'endless' },
  garbage: 'HTTP/1.1 400 Bad Request',
  'wrong class': '334 VXNlcm5hbWU6',
  closing: '421 4.3.2 Shutting down',
  'last words': { act: 'last-words', text: '421 4.3.2 Shutting down' },
  'not now': '452 4.3.1 Later',
  never: '554 5.7.1 Never',
}

/** Verdict, and code and phase of the error if any. */
type Expected = readonly [string, string?, string?]

function expectedFor(fault: string, step: Step): Expected {
  const phase = step === 'dot' ? 'final' : step
  const early = step === 'greeting' || step === 'ehlo'
  if (fault === 'drop' || fault === 'reset') return [step === 'dot' ? 'unknown' : 'transient', 'connection_lost', phase]
  if (fault === 'closing' || fault === 'last words') return ['transient', 'peer_closing', phase]
  if (early && fault !== 'endless' && fault !== 'garbage')
    return ['transient', step === 'ehlo' ? 'ehlo_refused' : 'greeting_refused', phase]
  if (fault === 'not now') return ['transient']
  if (fault === 'never') return ['permanent']
  return [step === 'dot' ? 'unknown' : 'transient', 'protocol_error', phase]
}

/** More than one piece, and the rest never arrives, so the fault happens during the content. */
async function* halfOfAMessage(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(70_000, 'half a message\r\n')
  await new Promise(() => undefined)
}

const summary = ({ recipients, error }: AttemptReport): Expected =>
  error ? [recipients[0]?.verdict ?? '', error.code, error.phase] : [recipients[0]?.verdict ?? '']

for (const offers of [['PIPELINING'], []]) {
  for (const step of steps) {
    for (const [fault, answer] of Object.entries(faults)) {
      test(`deliver(): ${offers[0] ?? 'plain'} ${fault} at ${step}`, async (t) => {
        const at = (name: SinkStep): boolean => name === step || (step === 'ehlo' && name === 'helo')
        const sink = await testSink(t, { offers, script: (name) => (at(name) ? answer : undefined) })
        const job = step === 'body' ? jobOf({ size: 140_000, content: halfOfAMessage }) : jobOf()
        const report = await testTransport(t).deliver(targetOf(sink), job)
        const expected = expectedFor(fault, step)
        // An RST may overtake earlier replies, so only the verdict is certain.
        if (fault === 'reset') t.is(summary(report)[0], expected[0])
        else t.deepEqual(summary(report), expected)
        t.is(report.recipients.length, 1)
        t.deepEqual(sink.deliveries, [])
      })
    }
  }
}

test('deliver(): refused MAIL counts if the peer then closes the connection', async (t) => {
  const sink = await testSink(t, { script: (step) => (step === 'mail' ? { act: 'last-words', text: '550 5.7.1 Listed' } : undefined) })
  const report = await testTransport(t).deliver(targetOf(sink), jobOf({ rcptTo: ['one@p.test', 'two@p.test'] }))
  t.deepEqual(
    report.recipients.map(({ verdict, reply }) => [verdict, reply?.text]),
    [
      ['permanent', 'Listed'],
      ['permanent', 'Listed'],
    ],
  )
})

test('deliver(): lost link keeps the received refusals', async (t) => {
  const sink = await testSink(t, {
    offers: [],
    script: (step, line) => (step === 'rcpt' && line.includes('never') ? '550 5.1.1 No' : step === 'data' ? { act: 'drop' } : undefined),
  })
  const report = await testTransport(t).deliver(targetOf(sink), jobOf({ rcptTo: ['never@p.test', 'one@p.test'] }))
  t.deepEqual(column(report.recipients, 'verdict'), ['permanent', 'transient'])
  t.is(report.error?.code, 'connection_lost')
})

test('deliver(): lost link after the dot makes only accepted recipients unknown', async (t) => {
  const sink = await testSink(t, {
    script: (step, line) => (step === 'rcpt' && line.includes('never') ? '550 5.1.1 No' : step === 'dot' ? { act: 'drop' } : undefined),
  })
  const report = await testTransport(t).deliver(targetOf(sink), jobOf({ rcptTo: ['never@p.test', 'one@p.test'] }))
  t.deepEqual(column(report.recipients, 'verdict'), ['permanent', 'unknown'])
})

test('deliver(): unreadable content never ends with a dot', async (t) => {
  for (const size of [10, 200_000]) {
    const sink = await testSink(t)
    const content = function* (): Generator<Uint8Array> {
      yield Buffer.from('A: b\r\n')
      throw new Error('disk')
    }
    const report = await testTransport(t).deliver(targetOf(sink), jobOf({ size, content }))
    t.deepEqual(summary(report), ['transient', 'content_failed', 'body'])
    await sink.open(0)
    t.deepEqual(sink.deliveries, [])
  }
})

test('deliver(): the final dot waits for beforeFinalDot()', async (t) => {
  for (const size of [0, 200_000]) {
    const sink = await testSink(t)
    const { promise, resolve } = Promise.withResolvers<void>()
    const job = jobOf({ chunks: [Buffer.alloc(size, 'a line\r\n'), Buffer.from('\r\n')], beforeFinalDot: () => promise })
    const report = testTransport(t).deliver(targetOf(sink), job)
    await sink.reached(size === 0 ? 'data' : 'body')
    t.false(sink.connections[0]?.pieces.join('').endsWith('\r\n.\r\n'))
    resolve()
    t.is((await report).recipients[0]?.verdict, 'accepted')
  }
})

test('deliver(): if recording the start fails, the connection closes without a dot', async (t) => {
  for (const size of [0, 200_000]) {
    const sink = await testSink(t)
    const job = jobOf({ chunks: [Buffer.alloc(size, 'a line\r\n')], beforeFinalDot: () => Promise.reject(new Error('store')) })
    const report = await testTransport(t).deliver(targetOf(sink), job)
    t.deepEqual(summary(report), ['transient', 'start_not_recorded', 'body'])
    await sink.open(0)
    t.deepEqual(sink.deliveries, [])
  }
})
