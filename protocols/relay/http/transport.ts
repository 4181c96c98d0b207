/** Mail providers with an API over HTTP as a transport: kept connections, one report per attempt. */
import type { SecureContext } from 'node:tls'
import type { HttpProvider } from '#config/providers.ts'
import { systemClock, type Clock } from '#core/clock.ts'
import type { AttemptReport, DeliveryJob, HttpTarget, ProbeStep, Transport } from '#core/delivery/transport.ts'
import type { AddressGuard } from '#core/outbound/address-guard.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import { PartsReader } from '#ingest/messages/parts-reader.ts'
import { dialDirectly } from '../smtp/connect.ts'
import { Failure } from '../smtp/failure.ts'
import { clientContext } from '../smtp/secure.ts'
import { HttpAttempt } from './attempt.ts'
import { standardHttpDeadlines, type HttpDeadlines } from './deadlines.ts'
import { GuardedAgent, type AgentOptions } from './guarded-agent.ts'
import { ProbeWalk } from './probe.ts'
import type { Vendor } from './vendor.ts'
import { vendors } from './vendors.ts'

export interface HttpTransportOptions {
  readonly resolver: Resolver
  readonly guard: AddressGuard
  readonly clock?: Clock
  /** Milliseconds that differ from the standard ones. */
  readonly deadlines?: Partial<HttpDeadlines>
  /** Certificates in PEM that are trusted besides the well-known ones. */
  readonly trusted?: readonly string[]
  /** Takes messages apart; a reader with a thread of its own when not given. Ended with the transport. */
  readonly reader?: Pick<PartsReader, 'read'> & AsyncDisposable
}

interface Kept {
  readonly revision: string
  readonly agent: GuardedAgent
}

export class HttpTransport implements Transport<HttpTarget> {
  readonly #options: AgentOptions
  readonly #reader: Pick<PartsReader, 'read'> & AsyncDisposable
  readonly #agents = new Map<string, Kept>()
  readonly #closing = new AbortController()

  constructor({ resolver, guard, clock = systemClock, deadlines, trusted = [], reader }: HttpTransportOptions) {
    let context: SecureContext | undefined
    this.#reader = reader ?? new PartsReader(clock)
    this.#options = {
      ...{ resolver, guard, clock, dial: dialDirectly },
      deadlines: { ...standardHttpDeadlines, ...deadlines },
      get context() {
        context ??= clientContext(trusted)
        return context
      },
    }
  }

  async deliver(target: HttpTarget, job: DeliveryJob): Promise<AttemptReport> {
    const { clock, deadlines } = this.#options
    const vendor: Vendor = vendors[target.provider satisfies HttpProvider]
    const signal = AbortSignal.any([job.signal, this.#closing.signal])
    const agent = this.#agentFor(target)
    const attempt = new HttpAttempt(target, vendor, { ...job, signal }, { clock, deadlines, agent, reader: this.#reader })
    if (!signal.aborted) return attempt.run()
    return attempt.report(new Failure(job.signal.aborted ? 'aborted' : 'closed', 'connect'))
  }

  /** Over a connection of its own, so that every step is seen. */
  async probe(target: HttpTarget, signal: AbortSignal): Promise<readonly ProbeStep[]> {
    const { clock, deadlines } = this.#options
    const walk = new ProbeWalk(target, clock)
    const agent = new GuardedAgent(this.#options, 1, walk.passed)
    try {
      return await walk.through(vendors[target.provider], {
        agent,
        clock,
        deadlines,
        signal: AbortSignal.any([signal, this.#closing.signal]),
      })
    } finally {
      agent.destroy()
    }
  }

  forget(destinationId: string): void {
    // Requests under way keep their connections, which nobody uses again.
    const kept = this.#agents.get(destinationId)
    this.#agents.delete(destinationId)
    kept?.agent.retire()
  }

  /** Ends what is under way at once; whoever wants it finished waits for its reports first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    for (const { agent } of this.#agents.values()) agent.destroy()
    this.#agents.clear()
    await this.#reader[Symbol.asyncDispose]()
  }

  #agentFor({ destinationId, revision, maxConnections }: HttpTarget): GuardedAgent {
    const kept = this.#agents.get(destinationId)
    if (kept?.revision === revision) return kept.agent
    this.forget(destinationId)
    const agent = new GuardedAgent(this.#options, maxConnections)
    this.#agents.set(destinationId, { revision, agent })
    return agent
  }
}
