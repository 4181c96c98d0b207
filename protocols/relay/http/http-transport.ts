/** Transport for mail providers with an HTTP API. Reuses connections, and reports each attempt once. */
import type { HttpProvider } from '#config/mail/providers.ts'
import type { AttemptReport, DeliveryJob, HttpTarget, ProbeStep, Transport } from '#core/delivery/transport.ts'
import { PartsReader } from '#ingest/messages/parts-reader.ts'
import { outboundNetwork, type OutboundOptions, type SecureNetwork } from '../../outbound/open-connection.ts'
import { KeepAliveAgent } from '../../outbound/keep-alive-agent.ts'
import { Failure } from '../attempt-failure.ts'
import { HttpAttempt } from './http-attempt.ts'
import { standardHttpDeadlines, type HttpDeadlines } from './deadlines.ts'
import { ProbeWalk } from './http-probe.ts'
import type { Vendor } from './contract/vendor.ts'
import { makeVendors } from './vendors/vendors.ts'

export interface HttpTransportOptions extends OutboundOptions {
  /** Timeouts in milliseconds that replace the defaults. */
  readonly deadlines?: Partial<HttpDeadlines>
  /** Parses messages. Default: a reader with a separate thread. Disposed with the transport. */
  readonly reader?: Pick<PartsReader, 'read'> & AsyncDisposable
}

interface CachedAgent {
  readonly revision: string
  readonly agent: KeepAliveAgent
}

export class HttpTransport implements Transport<HttpTarget> {
  readonly #network: SecureNetwork & { readonly deadlines: HttpDeadlines }
  readonly #reader: Pick<PartsReader, 'read'> & AsyncDisposable
  readonly #vendors: Readonly<Record<HttpProvider, Vendor>> = makeVendors()
  readonly #agents = new Map<string, CachedAgent>()
  readonly #closing = new AbortController()

  constructor({ deadlines, reader, ...options }: HttpTransportOptions) {
    this.#network = outboundNetwork(options, { ...standardHttpDeadlines, ...deadlines })
    this.#reader = reader ?? new PartsReader(this.#network.clock)
  }

  async deliver(target: HttpTarget, job: DeliveryJob): Promise<AttemptReport> {
    const { clock, deadlines } = this.#network
    const vendor = this.#vendors[target.provider]
    const signal = AbortSignal.any([job.signal, this.#closing.signal])
    const agent = this.#agentFor(target)
    const attempt = new HttpAttempt(target, vendor, { ...job, signal }, { clock, deadlines, agent, reader: this.#reader })
    if (!signal.aborted) return attempt.run()
    return attempt.report(new Failure(job.signal.aborted ? 'aborted' : 'closed', 'connect'))
  }

  /** Tests a destination. Opens a new connection, so that the steps of connecting (DNS, TCP, TLS) are reported too. */
  async probe(target: HttpTarget, signal: AbortSignal, seen?: (step: ProbeStep) => void): Promise<readonly ProbeStep[]> {
    const { clock, deadlines } = this.#network
    const walk = new ProbeWalk(target, clock, seen)
    const agent = new KeepAliveAgent(this.#network, { maxConnections: 1, idleMs: deadlines.idle, onStep: walk.passed })
    try {
      return await walk.through(this.#vendors[target.provider], {
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
    // Running requests keep their connections, which are not reused.
    const kept = this.#agents.get(destinationId)
    this.#agents.delete(destinationId)
    kept?.agent.retire()
  }

  /** Aborts all attempts. To let them finish, wait for their reports first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    for (const { agent } of this.#agents.values()) agent.destroy()
    this.#agents.clear()
    await this.#reader[Symbol.asyncDispose]()
  }

  #agentFor({ destinationId, revision, maxConnections }: HttpTarget): KeepAliveAgent {
    const kept = this.#agents.get(destinationId)
    if (kept?.revision === revision) return kept.agent
    this.forget(destinationId)
    const agent = new KeepAliveAgent(this.#network, { maxConnections, idleMs: this.#network.deadlines.idle })
    this.#agents.set(destinationId, { revision, agent })
    return agent
  }
}
