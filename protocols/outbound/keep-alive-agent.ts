/** Agent for Node's HTTP client that keeps connections to one host open. It checks every address and verifies TLS. */
import { Agent, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { openConnection, type OnStep, type SecureNetwork, type Target } from './open-connection.ts'
import { OutboundFailure, type OpeningStep } from './failure.ts'
import type { TlsFacts } from './tls.ts'

/** Properties of an open connection. */
export interface ConnectionFacts {
  readonly address: string
  readonly tls: TlsFacts | undefined
  /** Duration of each step of opening the connection, in milliseconds. */
  readonly milliseconds: Readonly<Partial<Record<OpeningStep, number>>>
}

export interface KeepAliveOptions {
  readonly maxConnections: number
  /** Milliseconds until an unused connection is closed. */
  readonly idleMs: number
  readonly onStep?: OnStep | undefined
}

/**
 * Arguments of a request over this agent. They must not contain data of a single request, because the agent may use them to open a
 * connection for the next one.
 */
export type KeptRequestArgs = ClientRequestArgs & Target

const facts = new WeakMap<Socket, ConnectionFacts>()

/** Returns the properties of a connection that this agent opened. */
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

  /** Closes all connections, and aborts openings in progress. */
  override destroy(): void {
    this.#closing.abort()
    super.destroy()
  }

  /** Closes idle connections now, and busy ones after their request. */
  retire(): void {
    this.#retired = true
    for (const socket of Object.values(this.freeSockets).flat()) socket?.destroy()
  }

  override keepSocketAlive(socket: Duplex): boolean {
    // The method returns a boolean, which its types do not declare: false closes the socket.
    return !this.#retired && (super.keepSocketAlive(socket) as unknown as boolean)
  }

  override createConnection(args: ClientRequestArgs, done?: (error: Error | null, socket: Socket) => void): undefined {
    // The agent passes on the request's arguments. The package's callback type has no failure without a socket.
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
