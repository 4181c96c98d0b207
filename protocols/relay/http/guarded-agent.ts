/** Connections to one destination's provider: every address checked, TLS verified, kept open for the next request. */
import { Agent, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContext } from 'node:tls'
import { connectFirst, permittedAddresses, type Network } from '../smtp/connect.ts'
import { Failure, type Phase } from '../smtp/failure.ts'
import { secure, tlsFacts, type TlsFacts } from '../smtp/secure.ts'
import type { HttpDeadlines } from './deadlines.ts'

/** What a report says of a connection. */
export interface ConnectionFacts {
  readonly address: string
  readonly tls: TlsFacts | undefined
  /** Milliseconds of each step of opening it. */
  readonly milliseconds: Readonly<Record<string, number>>
}

export interface AgentOptions extends Network {
  readonly deadlines: HttpDeadlines
  /** The trusted authorities. */
  readonly context: SecureContext
}

/** The arguments of a request over this agent. Nothing of one request alone: the agent may open the next one's connection with them. */
export interface GuardedRequestArgs extends ClientRequestArgs {
  readonly host: string
  readonly port: number
  readonly encrypted: boolean
}

/** Told of each step of opening a connection that went well, with its milliseconds. */
export type OnStep = (step: Phase, detail: string, milliseconds: number) => void

const facts = new WeakMap<Socket, ConnectionFacts>()

/** What is known of a connection that such an agent opened. */
export const factsOf = (socket: Socket): ConnectionFacts | undefined => facts.get(socket)

export class GuardedAgent extends Agent {
  readonly #options: AgentOptions
  readonly #onStep: OnStep | undefined
  readonly #closing = new AbortController()
  #retired = false

  constructor(options: AgentOptions, connectionsMax: number, onStep?: OnStep) {
    super({ keepAlive: true, maxSockets: connectionsMax, timeout: options.deadlines.idle, scheduling: 'lifo' })
    this.#options = options
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
    // It tells whether the socket is kept; the types do not know.
    return !this.#retired && (super.keepSocketAlive(socket) as unknown as boolean)
  }

  override createConnection(args: ClientRequestArgs, done?: (error: Error | null, socket: Socket) => void): undefined {
    // The agent hands on what it was asked with. The package's type of the callback knows no failure without a socket.
    const settle = done as ((error: Error | null, socket?: Socket) => void) | undefined
    this.#open(args as GuardedRequestArgs).then(
      (socket) => settle?.(null, socket),
      (error: unknown) => settle?.(error instanceof Failure ? error : new Failure('connection_lost', 'connect')),
    )
  }

  async #open({ host, port, encrypted }: GuardedRequestArgs): Promise<Socket> {
    const { clock, deadlines, context } = this.#options
    const milliseconds: Record<string, number> = {}
    let since = clock.monotonic()
    const note = (step: Phase, detail: string): void => {
      const now = clock.monotonic()
      milliseconds[step] = now - since
      this.#onStep?.(step, detail, now - since)
      since = now
    }
    const addresses = await permittedAddresses(this.#options, host, port)
    note('dns', `${host} has ${addresses.length === 1 ? 'an address' : `${addresses.length} addresses`} that may be connected to.`)
    const { socket: bare, address } = await connectFirst(this.#options, addresses, port, this.#closing.signal)
    note('connect', `Connected to ${address}:${port}.`)
    if (!encrypted) return remember(bare, { address, tls: undefined, milliseconds })
    const socket = await secure(bare, { host, verify: true, context, clock, deadlineMs: deadlines.tls, signal: this.#closing.signal })
    const tls = tlsFacts(socket)
    note('tls', `${tls.version}, ${tls.cipher}; the certificate is valid for ${host}.`)
    return remember(socket, { address, tls, milliseconds })
  }
}

function remember(socket: Socket, known: ConnectionFacts): Socket {
  facts.set(socket, known)
  return socket
}
