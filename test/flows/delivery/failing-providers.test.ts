/**
 * Outcome of a message when its provider fails: the core with the SMTP client over real sockets, a provider that fails in every way at
 * every step of the dialog, and a working fallback. The test moves the clock.
 */
import test, { type ExecutionContext } from '#test'
import type { AttemptRecord } from '#core/trace/attempt-record.ts'
import type { Trace } from '#core/trace/trace.ts'
import { failoverPolicies, type FailoverPolicy } from '#core/routing/failover-policy.ts'
import { FakeClock, startOfTime } from '../../support/fake-clock.ts'
import { coreFixture, projectId, principal, type CoreFixture } from '../../core/core-fixture.ts'
import { goodCertificate, otherCertificate } from '../../protocols/relay/certificates.ts'
import { testTransport } from '../../protocols/relay/relay-fixture.ts'
import type { SinkAnswer, SinkOptions, SinkStep } from '../../support/smtp/sink-script.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { Front } from '../../support/network/front.ts'
import { column } from '../../support/column.ts'

const minute = 60_000
const unknownWait = 15 * minute

type Fault =
  | '4xx'
  | '5xx'
  | '421 and close'
  | 'drop'
  | 'silence'
  | 'silent handshake'
  | 'just in time'
  | 'certificate of another'
  | 'no STARTTLS'
  | 'wrong password'
  | 'no listener'
/** `-` is for steps before the first command, which the sink does not see. */
type Step = 'greeting' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'dot' | '-'

/**
 * The next step. `at once`: the message goes to the fallback immediately, or without a fallback to the provider again after one minute.
 * `after its wait`: the same after the 15 minutes of an unknown outcome. `never`: permanently refused, and no other provider gets it.
 * `sent`: the provider has accepted it.
 */
type Next = 'at once' | 'after its wait' | 'never' | 'sent'

/** The fault, its step, the error and the phase of the attempt in the trace, and the next step. */
type Row = readonly [Fault, Step, error: string, phase: string, Next]

const table: readonly Row[] = [
  ['4xx', 'greeting', 'greeting_refused', 'greeting', 'at once'],
  ['4xx', 'ehlo', 'ehlo_refused', 'ehlo', 'at once'],
  ['4xx', 'starttls', 'starttls_deferred', 'tls', 'at once'],
  ['4xx', 'auth', 'auth_deferred', 'auth', 'at once'],
  ['4xx', 'mail', '', '', 'at once'],
  ['4xx', 'rcpt', '', '', 'at once'],
  ['4xx', 'data', '', '', 'at once'],
  ['4xx', 'dot', '', '', 'at once'],

  ['5xx', 'greeting', 'greeting_refused', 'greeting', 'at once'],
  ['5xx', 'ehlo', 'ehlo_refused', 'ehlo', 'at once'],
  ['5xx', 'starttls', 'starttls_unavailable', 'tls', 'at once'],
  ['5xx', 'auth', 'auth_failed', 'auth', 'at once'],
  ['5xx', 'mail', '', '', 'never'],
  ['5xx', 'rcpt', '', '', 'never'],
  ['5xx', 'data', '', '', 'never'],
  ['5xx', 'dot', '', '', 'never'],

  ['421 and close', 'greeting', 'peer_closing', 'greeting', 'at once'],
  ['421 and close', 'ehlo', 'peer_closing', 'ehlo', 'at once'],
  ['421 and close', 'starttls', 'peer_closing', 'tls', 'at once'],
  ['421 and close', 'auth', 'peer_closing', 'auth', 'at once'],
  ['421 and close', 'mail', 'peer_closing', 'mail', 'at once'],
  ['421 and close', 'rcpt', 'peer_closing', 'rcpt', 'at once'],
  ['421 and close', 'data', 'peer_closing', 'data', 'at once'],
  ['421 and close', 'dot', 'peer_closing', 'final', 'at once'],

  ['drop', 'greeting', 'connection_lost', 'greeting', 'at once'],
  ['drop', 'ehlo', 'connection_lost', 'ehlo', 'at once'],
  ['drop', 'starttls', 'connection_lost', 'tls', 'at once'],
  ['drop', 'auth', 'connection_lost', 'auth', 'at once'],
  ['drop', 'mail', 'connection_lost', 'mail', 'at once'],
  ['drop', 'rcpt', 'connection_lost', 'rcpt', 'at once'],
  ['drop', 'data', 'connection_lost', 'data', 'at once'],
  ['drop', 'dot', 'connection_lost', 'final', 'after its wait'],

  ['silence', 'greeting', 'greeting_timeout', 'greeting', 'at once'],
  ['silence', 'ehlo', 'command_timeout', 'ehlo', 'at once'],
  ['silence', 'starttls', 'command_timeout', 'tls', 'at once'],
  ['silence', 'auth', 'command_timeout', 'auth', 'at once'],
  ['silent handshake', 'starttls', 'tls_timeout', 'tls', 'at once'],
  ['silence', 'mail', 'command_timeout', 'mail', 'at once'],
  ['silence', 'rcpt', 'command_timeout', 'rcpt', 'at once'],
  ['silence', 'data', 'command_timeout', 'data', 'at once'],
  ['silence', 'dot', 'final_timeout', 'final', 'after its wait'],

  ['just in time', 'greeting', '', '', 'sent'],
  ['just in time', 'ehlo', '', '', 'sent'],
  ['just in time', 'starttls', '', '', 'sent'],
  ['just in time', 'auth', '', '', 'sent'],
  ['just in time', 'mail', '', '', 'sent'],
  ['just in time', 'rcpt', '', '', 'sent'],
  ['just in time', 'data', '', '', 'sent'],
  ['just in time', 'dot', '', '', 'sent'],

  ['certificate of another', 'starttls', 'tls_verification_failed', 'tls', 'at once'],
  ['no STARTTLS', 'starttls', 'starttls_unavailable', 'tls', 'at once'],
  ['wrong password', 'auth', 'auth_failed', 'auth', 'at once'],
  ['no listener', '-', 'connect_refused', 'connect', 'at once'],
]

/** Milliseconds that a peer has for a reply. */
function timeoutWith(fault: Fault, step: Step): number {
  if (fault === 'silent handshake' || step === 'greeting') return 20_000
  return step === 'dot' ? 120_000 : 60_000
}

const answers: Readonly<Partial<Record<Fault, SinkAnswer>>> = {
  '4xx': '451 4.3.0 Later',
  '5xx': '554 5.7.1 Never',
  '421 and close': { act: 'last-words', text: '421 4.3.2 Shutting down' },
  drop: { act: 'drop' },
  silence: { act: 'hold' },
  'silent handshake': { act: 'only-words', text: '220 2.0.0 Go on' },
  'just in time': { act: 'hold' },
}

const healthy: SinkOptions = { security: 'starttls', users: { me: 'secret' }, certificate: goodCertificate }
const broken: Readonly<Partial<Record<Fault, SinkOptions>>> = {
  'certificate of another': { certificate: otherCertificate },
  'no STARTTLS': { security: 'none' },
  'wrong password': { users: { me: 'another secret' } },
}

const content = 'Subject: order\r\nMessage-ID: <m@example.com>\r\n\r\n.Thank you.\r\n'

/** A smart host that fails until it is repaired, and counts the messages it received. */
class Provider {
  readonly sink: Sink
  /** Number of complete messages with their final dot, regardless of their outcome. */
  handed = 0
  readonly #options: SinkOptions
  #fault: Fault | undefined
  #front: Front | undefined

  constructor(fault?: Fault, step?: Step) {
    this.#fault = fault
    this.#options = { ...healthy, ...(fault && broken[fault]) }
    this.sink = new Sink({ ...this.#options, script: (at) => this.#answer(at, step) })
  }

  async start(t: ExecutionContext): Promise<void> {
    await this.sink.listen()
    t.teardown(() => this.sink[Symbol.asyncDispose]())
    const front = await Front.to(this.sink.port)
    t.teardown(() => front[Symbol.asyncDispose]())
    if (this.#fault === 'no listener') await front.close()
    this.#front = front
  }

  get port(): number {
    return this.#front?.port ?? 0
  }

  #answer(at: SinkStep, step: Step | undefined): SinkAnswer | undefined {
    if (at === 'dot') this.handed++
    const isHere = at === step || (step === 'ehlo' && at === 'helo')
    return isHere && this.#fault ? answers[this.#fault] : undefined
  }

  /** Sends the delayed reply and works normally from now on. */
  goOn(): void {
    this.#fault = undefined
    this.sink.release()
  }

  /** Repairs the smart host. */
  async heal(): Promise<void> {
    if (this.#fault === 'no listener') await this.#front?.open()
    this.#fault = undefined
    Object.assign(this.sink.options, healthy)
  }
}

interface ProviderFixture {
  readonly fixture: CoreFixture
  readonly provider: Provider
  readonly fallback: Provider
}

async function fixtureOf(
  t: ExecutionContext,
  [fault, step]: readonly [Fault?, Step?, ...unknown[]],
  hasFallback: boolean,
): Promise<ProviderFixture> {
  const clock = new FakeClock()
  const [provider, fallback] = [new Provider(fault, step), new Provider()]
  for (const one of [provider, fallback]) await one.start(t)
  const fixture = await coreFixture(t, { clock, network: testTransport(t, { clock }) })
  await fixture.queue.start()
  for (const [id, { port }] of Object.entries({ dst_1: provider, dst_2: fallback }))
    await fixture.destination({ id, name: id === 'dst_1' ? 'Provider' : 'Fallback', host: 'mail.test', port, username: 'me' }, 'secret')
  if (hasFallback)
    await fixture.put<FailoverPolicy>(failoverPolicies, {
      id: 'fop_1',
      projectId,
      primaryId: 'dst_1',
      fallbackIds: ['dst_2'],
      on: ['transient', 'misconfigured'],
      latencyMs: null,
      createdAt: startOfTime,
      updatedAt: startOfTime,
    })
  return { fixture, provider, fallback }
}

/** Submits a message and lets the fault happen. A silent peer gets the time that passes. */
async function firstAttempt({ fixture, provider }: ProviderFixture, [fault, step]: Row): Promise<string> {
  const { traceId } = await fixture.submit({ content, destinationId: 'dst_1' })
  if (fault === 'silence' || fault === 'silent handshake' || fault === 'just in time') {
    await provider.sink.reached(step as SinkStep)
    await fixture.settled()
    fixture.clock.advance(timeoutWith(fault, step) - 1)
    await fixture.settled()
    if (fixture.attempted.length > 0) throw new Error('it was not given its time')
    if (fault === 'just in time') provider.goOn()
    else fixture.clock.advance(1)
  }
  await fixture.daemon.saw('attempted')
  await fixture.settled()
  return traceId
}

async function detailsOf(
  { fixture }: ProviderFixture,
  traceId: string,
): Promise<{ trace: Trace; attempts: readonly AttemptRecord[]; details: string }> {
  await fixture.kv.holds('nothing is queued', async () => (await fixture.queueLength()) === 0)
  return { ...(await fixture.traces.get(principal, traceId)), details: (await fixture.details(traceId)).join('\n') }
}

const verdicts = { 'at once': 'transient', 'after its wait': 'unknown', never: 'permanent', sent: 'accepted' } as const

/** Checks the failed or only attempt in the trace, and the time until the next one in milliseconds. */
function checkFirstAttempt(
  t: ExecutionContext,
  attempt: AttemptRecord | undefined,
  [, , error, phase, next]: Row,
  dueAfter: number | null,
): void {
  t.is(attempt?.destinationId, 'dst_1')
  t.is(attempt?.state, next === 'after its wait' ? 'unknown' : 'finished')
  t.deepEqual([attempt?.error?.code ?? '', attempt?.error?.phase ?? ''], [error, phase])
  t.deepEqual(
    attempt?.recipients?.map(({ verdict }) => verdict),
    [verdicts[next]],
  )
  t.is(attempt?.nextAttemptAt, dueAfter === null ? null : (attempt?.endedAt ?? 0) + dueAfter)
}

const statusesOf = ({ status, recipients }: Trace): string[] => [status, ...recipients.map((recipient) => recipient.status)]

/** Checks the number of complete messages at each provider, how many each accepted, and their content. */
function checkMail(
  t: ExecutionContext,
  setup: ProviderFixture,
  expected: { readonly handed: number; readonly provider: number; readonly fallback: number },
): void {
  const { provider, fallback } = setup
  const handed = { handed: provider.handed, provider: provider.sink.deliveries.length, fallback: fallback.sink.deliveries.length }
  t.deepEqual(handed, expected, 'ledger: how often each got the message')
  for (const { from, to, text } of [...provider.sink.deliveries, ...fallback.sink.deliveries]) {
    t.is(from, 'shop@example.com')
    t.deepEqual(to, ['anna@example.net'])
    t.true(text.endsWith(content))
  }
}

for (const row of table) {
  const [fault, step, , , next] = row
  const what = `${fault}${step === '-' ? '' : ` at ${step}`}`
  const handed = step === 'dot' ? 1 : 0

  test(`${what}, with a fallback: ${next}`, async (t) => {
    const setup = await fixtureOf(t, row, true)
    const { fixture, fallback } = setup
    const traceId = await firstAttempt(setup, row)
    if (next === 'after its wait') {
      fixture.clock.advance(unknownWait - 1)
      await fixture.settled()
      t.is(fallback.sink.connections.length, 0, 'the provider may have it')
      t.is((await fixture.trace(traceId)).status, 'queued')
      fixture.clock.advance(1)
    }
    const { trace, attempts, details } = await detailsOf(setup, traceId)
    t.deepEqual(statusesOf(trace), next === 'never' ? ['failed', 'failed'] : ['sent', 'sent'])
    if (next === 'never' || next === 'sent') {
      checkFirstAttempt(t, attempts[0], row, null)
      t.is(attempts.length, 1)
      t.is(fallback.sink.connections.length, 0)
      t.notRegex(details, /^failover:/m)
      return checkMail(t, setup, { handed: next === 'sent' ? 1 : handed, provider: next === 'sent' ? 1 : 0, fallback: 0 })
    }
    checkFirstAttempt(t, attempts[0], row, next === 'at once' ? 0 : unknownWait)
    t.deepEqual(column(attempts, 'destinationId'), ['dst_1', 'dst_2'])
    t.regex(details, /^failover: .*: the message goes on to the fallback Fallback\.$/m)
    t.is(/^retry_scheduled: /m.test(details), next === 'after its wait')
    checkMail(t, setup, { handed, provider: 0, fallback: 1 })
  })

  if (next === 'sent' || next === 'never') continue
  test(`${what}, without a fallback: retry ${next === 'at once' ? 'after a minute' : next}`, async (t) => {
    const setup = await fixtureOf(t, row, false)
    const { fixture, provider } = setup
    const traceId = await firstAttempt(setup, row)
    await provider.heal()
    const wait = next === 'at once' ? minute : unknownWait
    t.is((await fixture.trace(traceId)).nextAttemptAt, fixture.clock.now() + wait)
    const mails = (): number => provider.sink.lines.filter((line) => line.startsWith('MAIL')).length
    const before = mails()
    fixture.clock.advance(wait - 1)
    await fixture.settled()
    t.is(mails(), before, 'a probe may look at the provider, but nothing is handed to it')
    fixture.clock.advance(1)
    const { trace, attempts, details } = await detailsOf(setup, traceId)
    checkFirstAttempt(t, attempts[0], row, wait)
    t.deepEqual(statusesOf(trace), ['sent', 'sent'])
    t.is(attempts.length, 2)
    t.regex(details, /^retry_scheduled: Attempt 2 for 1 recipient is due at /m)
    checkMail(t, setup, { handed: handed + 1, provider: 1, fallback: 0 })
  })
}

test('fallback: gets only the deferred one of three recipients', async (t) => {
  const setup = await fixtureOf(t, [], true)
  const { fixture, provider, fallback } = setup
  provider.sink.script = (step, line) =>
    step !== 'rcpt' ? undefined : line.includes('never') ? '550 5.1.1 Nobody' : line.includes('later') ? '450 4.2.1 Busy' : undefined
  const rcptTo = ['taken@example.net', 'never@example.net', 'later@example.net']
  const { traceId } = await fixture.submit({ content, destinationId: 'dst_1', rcptTo })
  const { trace, attempts } = await detailsOf(setup, traceId)
  t.deepEqual(statusesOf(trace), ['failed', 'sent', 'failed', 'sent'])
  t.is(attempts.length, 2)
  t.deepEqual(
    [provider, fallback].map(({ sink }) => sink.deliveries.map(({ to }) => to)),
    [[['taken@example.net']], [['later@example.net']]],
    'ledger: each recipient gets it once',
  )
})

for (const step of ['mail', 'rcpt', 'data', 'dot', 'greeting'] as const)
  test(`throttling at ${step}: recorded, and a policy moves the message to the fallback`, async (t) => {
    const setup = await fixtureOf(t, [], false)
    const { fixture, provider, fallback } = setup
    const times = { createdAt: startOfTime, updatedAt: startOfTime }
    const on = ['rate_limited'] as const
    await fixture.put<FailoverPolicy>(failoverPolicies, {
      ...{ id: 'fop_1', projectId, primaryId: 'dst_1', fallbackIds: ['dst_2'], on, latencyMs: null, ...times },
    })
    provider.sink.script = (at) => (at === step ? '454 Throttling failure: Maximum sending rate exceeded.' : undefined)
    const { traceId } = await fixture.submit({ content, destinationId: 'dst_1' })
    const { trace, attempts } = await detailsOf(setup, traceId)
    t.deepEqual(statusesOf(trace), ['sent', 'sent'])
    t.like(attempts[0], { destinationId: 'dst_1', error: { code: 'provider_rate_limited' }, failover: { cause: 'rate_limited' } })
    t.is(fallback.sink.deliveries.length, 1)
    t.is(fixture.health.throttledMs('dst_1'), 5000)
    t.is(fixture.health.throttledMs('dst_2'), 0)
  })

for (const hasFallback of [true, false]) {
  test(`connection lost twice after the dot: no further attempt, ${hasFallback ? 'with' : 'without'} a fallback`, async (t) => {
    const setup = await fixtureOf(t, ['drop', 'dot'], hasFallback)
    const { fixture, provider, fallback } = setup
    let lost = 0
    fallback.sink.script = (step) => (step === 'dot' && ++lost ? { act: 'drop' } : undefined)
    const { traceId } = await fixture.submit({ content, destinationId: 'dst_1' })
    await fixture.daemon.saw('attempted')
    await fixture.settled()
    fixture.clock.advance(unknownWait)
    const { trace, attempts } = await detailsOf(setup, traceId)
    fixture.clock.advance(48 * 60 * minute)
    await fixture.settled()
    t.deepEqual(statusesOf(trace), ['failed', 'failed'])
    t.deepEqual(column(attempts, 'state'), ['unknown', 'unknown'])
    t.deepEqual([provider.handed, lost], hasFallback ? [1, 1] : [2, 0], 'ledger: it is not handed over again')
  })
}
