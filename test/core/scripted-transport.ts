/** A fake network that answers every delivery attempt by a script. */
import { buffer } from 'node:stream/consumers'
import type { AttemptReport, DeliveryJob, ProbeStep, RecipientVerdict, Transport, TransportTarget } from '#core/delivery/transport.ts'

/** One attempt as requested from the transport. */
export interface Call {
  readonly target: TransportTarget
  readonly job: DeliveryJob
  /** From 1, per trace. */
  readonly nth: number
}

export type Script = (call: Call) => Promise<AttemptReport> | AttemptReport

/** A report with the same result for every recipient, or with `verdicts` by address. */
export function report(call: Call, verdicts: RecipientVerdict | Readonly<Record<string, RecipientVerdict>>, error?: string): AttemptReport {
  const replies = {
    accepted: { code: 250, enhanced: '2.0.0', text: 'queued' },
    transient: { code: 451, enhanced: '4.2.0', text: 'try later' },
    permanent: { code: 550, enhanced: '5.1.1', text: 'no such user' },
    unknown: undefined,
  } as const
  return {
    recipients: call.job.rcptTo.map((address) => {
      const verdict = typeof verdicts === 'string' ? verdicts : (verdicts[address] ?? 'accepted')
      return { address, verdict, reply: error === undefined ? replies[verdict] : undefined }
    }),
    host: call.target.provider === 'smtp' ? call.target.host : '',
    port: call.target.provider === 'smtp' ? call.target.port : 0,
    reused: false,
    error: error === undefined ? undefined : { code: error, message: `The attempt failed: ${error}.`, phase: 'connect' },
    milliseconds: { total: 5 },
  }
}

/** Accepts the message like a provider, with the start of the attempt recorded before the final dot. */
export async function take(
  call: Call,
  verdicts: RecipientVerdict | Readonly<Record<string, RecipientVerdict>> = 'accepted',
): Promise<AttemptReport> {
  await call.job.beforeFinalDot()
  return report(call, verdicts)
}

/** An attempt that ends on command of the test or when aborted. */
export function hang(call: Call): Promise<AttemptReport> {
  const { promise, resolve } = Promise.withResolvers<AttemptReport>()
  const abort = (): void => resolve(report(call, 'transient', 'aborted'))
  if (call.job.signal.aborted) abort()
  else call.job.signal.addEventListener('abort', abort, { once: true })
  return promise
}

export class ScriptedTransport implements Transport {
  readonly calls: Call[] = []
  script: Script
  /** Attempts in flight per destination, current and maximum. */
  readonly active = new Map<string, number>()
  readonly mostActive = new Map<string, number>()
  readonly #perTrace = new Map<string, number>()

  constructor(script: Script = (call) => take(call)) {
    this.script = script
  }

  async deliver(target: TransportTarget, job: DeliveryJob): Promise<AttemptReport> {
    const nth = (this.#perTrace.get(job.traceId) ?? 0) + 1
    this.#perTrace.set(job.traceId, nth)
    const call = { target, job, nth }
    this.calls.push(call)
    const active = (this.active.get(target.destinationId) ?? 0) + 1
    this.active.set(target.destinationId, active)
    this.mostActive.set(target.destinationId, Math.max(active, this.mostActive.get(target.destinationId) ?? 0))
    try {
      return await this.script(call)
    } finally {
      this.active.set(target.destinationId, (this.active.get(target.destinationId) ?? 1) - 1)
    }
  }

  /** The recipients of every attempt at a trace, in order. */
  attemptsAt(traceId: string): string[][] {
    return this.calls.filter(({ job }) => job.traceId === traceId).map(({ job }) => [...job.rcptTo])
  }

  probe(): Promise<readonly ProbeStep[]> {
    return Promise.resolve([])
  }

  forget(): void {}

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }
}

/** The message as the transport sends it. */
export async function contentOf({ job }: Call): Promise<Buffer> {
  return buffer(
    (async function* () {
      yield* job.content()
    })(),
  )
}
