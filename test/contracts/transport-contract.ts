/**
 * Behavior that the queue needs from every transport, regardless of its protocol. A provider's test file calls this with a fixture that
 * controls its peer. Nothing here is specific to SMTP.
 */
import type { ExecutionContext, SerialFn } from 'ava'
import type { AttemptReport, DeliveryJob, Transport, TransportTarget } from '#core/delivery/transport.ts'
import { column } from '../support/column.ts'

/** Reaction of the peer to later messages. */
export type PeerMood = 'accept' | 'defer' | 'refuse' | 'lose-after-handover' | 'hold-before-content' | 'not-there'

/** A transport and its peer for one test; both stop with the test. */
export interface TransportFixture<Target extends TransportTarget = TransportTarget> {
  readonly transport: Transport<Target>
  readonly target: Target
  /** A target with only a forbidden address. */
  readonly forbidden: Target
  /** Sets the reaction of the peer. */
  be(mood: PeerMood): Promise<void>
  /** Contents of the messages that the peer accepted. */
  received(): readonly string[]
  /** Resolves when an attempt waits at the peer. */
  held(): Promise<void>
  /** Number of connections or requests to the peer. */
  contacts(): number
}

const secret = 'contract-secret-1'

function job(changes: Partial<DeliveryJob> = {}): DeliveryJob {
  const content = Buffer.from('Subject: contract\r\n\r\n.dot\r\nend\r\n')
  return {
    traceId: '00000000-0000-4000-8000-000000000001',
    mailFrom: 'sender@site.test',
    rcptTo: ['one@peer.test', 'two@peer.test'],
    eightBit: false,
    smtputf8: false,
    size: content.length,
    content: () => [content],
    beforeFinalDot: () => Promise.resolve(),
    signal: new AbortController().signal,
    ...changes,
  }
}

function positionOf(target: TransportTarget): { readonly host: string; readonly port: number } {
  if (target.provider === 'smtp') return { host: target.host, port: target.port }
  const url = new URL(target.baseUrl ?? '')
  return { host: url.hostname, port: Number(url.port) }
}

const verdicts = (report: AttemptReport): readonly string[] => report.recipients.map(({ verdict }) => verdict)

/** Declares the tests of the contract with this name. */
export function transportContract<Target extends TransportTarget>(
  test: SerialFn,
  name: string,
  make: (t: ExecutionContext) => Promise<TransportFixture<Target>>,
): void {
  test(`${name} contract: every recipient has exactly one report, in the order of the job`, async (t) => {
    const { transport, target, received } = await make(t)
    const report = await transport.deliver(target, job())
    t.deepEqual(column(report.recipients, 'address'), ['one@peer.test', 'two@peer.test'])
    t.deepEqual(verdicts(report), ['accepted', 'accepted'])
    t.like(report, { ...positionOf(target), error: undefined })
    t.true((report.milliseconds['total'] ?? -1) >= 0)
    t.is(received().length, 1)
    t.true(received()[0]?.includes('\r\n.dot\r\nend\r\n'))
  })

  for (const [mood, verdict] of [
    ['defer', 'transient'],
    ['refuse', 'permanent'],
  ] as const) {
    test(`${name} contract: a peer's reply ${mood} gives ${verdict}, with its text`, async (t) => {
      const fixture = await make(t)
      await fixture.be(mood)
      const report = await fixture.transport.deliver(fixture.target, job())
      t.deepEqual(verdicts(report), [verdict, verdict])
      t.true(report.recipients.every(({ reply }) => reply !== undefined && reply.text !== ''))
      t.deepEqual(fixture.received(), [])
    })
  }

  test(`${name} contract: a connection lost after the whole message is unknown`, async (t) => {
    const fixture = await make(t)
    await fixture.be('lose-after-handover')
    const report = await fixture.transport.deliver(fixture.target, job())
    t.deepEqual(verdicts(report), ['unknown', 'unknown'])
    t.truthy(report.error?.code)
    t.truthy(report.error?.message)
  })

  test(`${name} contract: an unreachable peer is transient; a later attempt may succeed`, async (t) => {
    const fixture = await make(t)
    await fixture.be('not-there')
    const report = await fixture.transport.deliver(fixture.target, job())
    t.deepEqual(verdicts(report), ['transient', 'transient'])
    t.is(report.error?.phase, 'connect')
    await fixture.be('accept')
    t.deepEqual(verdicts(await fixture.transport.deliver(fixture.target, job())), ['accepted', 'accepted'])
  })

  test(`${name} contract: no connection to a forbidden address`, async (t) => {
    const fixture = await make(t)
    const report = await fixture.transport.deliver(fixture.forbidden, job())
    t.deepEqual(verdicts(report), ['transient', 'transient'])
    t.is(report.error?.code, 'address_forbidden')
    t.is(fixture.contacts(), 0)
    const steps = await fixture.transport.probe(fixture.forbidden, new AbortController().signal)
    t.false(steps.at(-1)?.ok)
    t.is(fixture.contacts(), 0)
  })

  test(`${name} contract: the start is durable before the peer has the whole message`, async (t) => {
    const fixture = await make(t)
    const { promise: durable, resolve } = Promise.withResolvers<void>()
    const { promise: asked, resolve: noteAsked } = Promise.withResolvers<void>()
    const beforeFinalDot = (): Promise<void> => {
      noteAsked()
      return durable
    }
    const attempt = fixture.transport.deliver(fixture.target, job({ beforeFinalDot }))
    await asked
    t.deepEqual(fixture.received(), [])
    resolve()
    t.deepEqual(verdicts(await attempt), ['accepted', 'accepted'])
  })

  test(`${name} contract: without a recorded start, nothing is delivered`, async (t) => {
    const fixture = await make(t)
    const report = await fixture.transport.deliver(fixture.target, job({ beforeFinalDot: () => Promise.reject(new Error('store')) }))
    t.deepEqual(verdicts(report), ['transient', 'transient'])
    t.is(report.error?.code, 'start_not_recorded')
    t.deepEqual(verdicts(await fixture.transport.deliver(fixture.target, job())), ['accepted', 'accepted'])
    t.is(fixture.received().length, 1)
  })

  test(`${name} contract: content is requested at most once; if it fails, nothing is delivered`, async (t) => {
    const fixture = await make(t)
    let asked = 0
    const content = (): Iterable<Uint8Array> => {
      asked += 1
      throw new Error('disk')
    }
    const report = await fixture.transport.deliver(fixture.target, job({ content }))
    t.deepEqual(verdicts(report), ['transient', 'transient'])
    t.is(report.error?.code, 'content_failed')
    t.is(asked, 1)
    t.deepEqual(fixture.received(), [])
  })

  test(`${name} contract: content may come in pieces, now or later`, async (t) => {
    const fixture = await make(t)
    async function* later(): AsyncGenerator<Uint8Array> {
      for (const text of ['Subject: x\r', '\n\r\n', '', 'body', '\r\n']) yield Promise.resolve(Buffer.from(text))
    }
    await fixture.transport.deliver(fixture.target, job({ size: 18, content: later }))
    t.true(fixture.received()[0]?.endsWith('\r\n\r\nbody\r\n'))
  })

  test(`${name} contract: an aborted attempt is reported at once`, async (t) => {
    const fixture = await make(t)
    const early = await fixture.transport.deliver(fixture.target, job({ signal: AbortSignal.abort() }))
    t.is(early.error?.code, 'aborted')
    t.is(fixture.contacts(), 0)
    await fixture.be('hold-before-content')
    const controller = new AbortController()
    const attempt = fixture.transport.deliver(fixture.target, job({ signal: controller.signal }))
    await fixture.held()
    controller.abort()
    const report = await attempt
    t.deepEqual(verdicts(report), ['transient', 'transient'])
    t.is(report.error?.code, 'aborted')
  })

  test(`${name} contract: a probe sends no message; no output contains the password`, async (t) => {
    const fixture = await make(t)
    const target = { ...fixture.target, username: 'user', password: secret }
    const steps = await fixture.transport.probe(target, new AbortController().signal)
    t.true(steps.length > 0)
    t.true(steps.every(({ step, detail, milliseconds }) => step !== '' && detail !== '' && milliseconds >= 0))
    const report = await fixture.transport.deliver(target, job())
    t.false(JSON.stringify([steps, report]).includes(secret))
    t.true(fixture.received().length <= 1)
  })

  test(`${name} contract: after the end, attempts get a report and send nothing`, async (t) => {
    const fixture = await make(t)
    await fixture.be('hold-before-content')
    const attempt = fixture.transport.deliver(fixture.target, job())
    await fixture.held()
    await fixture.transport[Symbol.asyncDispose]()
    t.deepEqual(verdicts(await attempt), ['transient', 'transient'])
    const before = fixture.contacts()
    t.deepEqual(verdicts(await fixture.transport.deliver(fixture.target, job())), ['transient', 'transient'])
    t.is(fixture.contacts(), before)
  })
}
