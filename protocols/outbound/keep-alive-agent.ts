/** Connections to one host that are kept open for the next request, as an agent of Node's: every address checked, TLS verified. */
import { Agent, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { openConnection, type OnStep, type SecureNetwork, type Target } from './open-connection.ts'
import { OutboundFailure, type OpeningStep } from './failure.ts'
import type { TlsFacts } from './tls.ts'

/** What is known of a kept connection. */
export interface ConnectionFacts {
  readonly address: string
  readonly tls: TlsFacts | undefined
  /** Milliseconds of each step of opening it. */
  readonly milliseconds: Readonly<Partial<Record<OpeningStep, number>>>
}

export interface KeepAliveOptions {
  readonly maxConnections: number
  /** Milliseconds for which an unused connection is kept. */
  readonly idleMs: number
  readonly onStep?: OnStep | undefined
}

/** The arguments of a request over this agent. Nothing of one request alone: the agent may open the next one's connection with them. */
export type KeptRequestArgs = ClientRequestArgs & Target

const facts = new WeakMap<Socket, ConnectionFacts>()

/** What is known of a connection that such an agent opened. */
export const factsOf = (socket: Socket): ConnectionFacts | undefined => facts.get(socket)

export class KeepAliveAgent extends Agent {
  readonly #network: SecureNetwork
  readonly #onStep: OnStep | undefined
  readonly #closing = new AbortController()
  #retired = false

  constructor(network: SecureNetwork, { maxConnections, idleMs, onStep }: KeepAliveOptions) {
    super({ keepAlive: true, maxSockets: maxConnections, timeout: idleMs, scheduling: 'lifo' })
    this.#network = network
    this.#onStep = onStep
  }

  /** Ends all connections, those that are being opened as well. */
  override destroy(): void {
    this.#closing.abort()
    super.destroy()
  }

  /** Idle connections close now, busy ones when they are through. */
  retire(): void {
    this.#retired = true
    for (const socket of Object.values(this.freeSockets).flat()) socket?.destroy()
  }

  override keepSocketAlive(socket: Duplex): boolean {
    // It returns whether the socket is kept, which its types do not declare.
    return !this.#retired && (super.keepSocketAlive(socket) as unknown as boolean)
  }

  override createConnection(args: ClientRequestArgs, done?: (error: Error | null, socket: Socket) => void): undefined {
    // The agent hands on what it was asked with. The package's type of the callback knows no failure without a socket.
    const settle = done as ((error: Error | null, socket?: Socket) => void) | undefined
    this.#open(args as KeptRequestArgs).then(
      (socket) => settle?.(null, socket),
      (error: unknown) => settle?.(error instanceof OutboundFailure ? error : new OutboundFailure('connection_lost', 'connect')),
    )
  }

  async #open(target: Target): Promise<Socket> {
    const milliseconds: Partial<Record<OpeningStep, number>> = {}
    const onStep: OnStep = (step, detail, taken) => {
      milliseconds[step] = taken
      this.#onStep?.(step, detail, taken)
    }
    const { socket, address, tls } = await openConnection(this.#network, target, this.#closing.signal, onStep)
    facts.set(socket, { address, tls, milliseconds })
    return socket
  }
}
