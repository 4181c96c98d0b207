/** Opens a link that is ready for mail: connect, greeting, EHLO, TLS and AUTH. Measures each step. */
import type { PeerReply, SmtpTarget } from '#core/delivery/transport.ts'
import type { SecureNetwork } from '../../../outbound/open-connection.ts'
import { connectFirst, permittedAddresses } from '../../../outbound/dial.ts'
import { secure, tlsFacts, type TlsFacts } from '../../../outbound/tls.ts'
import type { Capabilities } from './capabilities.ts'
import { readCapabilities } from './capabilities.ts'
import type { Deadlines } from './deadlines.ts'
import type { AttemptErrorCode, Phase } from '../../attempt-failure.ts'
import { asFailure, Failure } from '../../attempt-failure.ts'
import { Link } from './link.ts'
import { signIn, type TokenSource } from './sign-in.ts'

/** Dependencies of opening a link, apart from the destination. */
export interface HandshakeOptions extends SecureNetwork {
  readonly deadlines: Deadlines
  /** Name to send in EHLO (RFC 5321 §4.1.1.1). */
  readonly heloName: string
  /** Whether this service itself listens on an address and port. */
  readonly isOwn?: ((address: string, port: number) => boolean) | undefined
  readonly tokens: TokenSource
  /** Called after each successful step, with its milliseconds. */
  readonly onStep?: ((step: Phase, detail: string, milliseconds: number) => void) | undefined
}

/** A peer that is ready for mail. */
export interface Peer {
  readonly link: Link
  readonly address: string
  readonly capabilities: Capabilities
  readonly tls: TlsFacts | undefined
  /** Duration in milliseconds of each step of the handshake. */
  readonly milliseconds: Readonly<Record<string, number>>
}

/** Opens a link. If it throws `Failure`, it has closed all sockets. */
export async function openLink(target: SmtpTarget, options: HandshakeOptions, signal: AbortSignal): Promise<Peer> {
  const handshake = new Handshake(target, options, signal)
  try {
    return await handshake.run()
  } catch (error) {
    const failure = asFailure(error, 'connect')
    handshake.giveUp(failure)
    throw failure
  }
}

class Handshake {
  readonly #target: SmtpTarget
  readonly #options: HandshakeOptions
  readonly #signal: AbortSignal
  readonly #milliseconds = new Map<Phase, number>()
  #link: Link | undefined
  #address: string | undefined
  #tls: TlsFacts | undefined
  #since: number

  constructor(target: SmtpTarget, options: HandshakeOptions, signal: AbortSignal) {
    this.#target = target
    this.#options = options
    this.#signal = signal
    this.#since = options.clock.monotonic()
  }

  async run(): Promise<Peer> {
    const { host, port, security } = this.#target
    const addresses = this.#foreign(await permittedAddresses(this.#options, host, port))
    this.#done('dns', `${addresses.length} address${addresses.length === 1 ? '' : 'es'}`)
    const { socket, address } = await connectFirst(this.#options, addresses, port, this.#signal)
    const link = new Link(socket, this.#options.clock)
    this.#link = link
    this.#address = address
    this.#done('connect', `Connected to ${address} port ${port}.`)
    const onAbort = (): void => link.break(new Failure('aborted', link.phase))
    this.#signal.addEventListener('abort', onAbort)
    try {
      if (security === 'tls') await this.#secure(link)
      await this.#greet(link)
      const capabilities = await this.#introduce(link)
      await this.#authenticate(link, capabilities, address)
      return { link, address, capabilities, tls: this.#tls, milliseconds: Object.fromEntries(this.#milliseconds) }
    } finally {
      this.#signal.removeEventListener('abort', onAbort)
    }
  }

  giveUp(failure: Failure): void {
    failure.address = this.#address
    this.#link?.break(failure)
  }

  #foreign(addresses: readonly string[]): readonly string[] {
    const { isOwn = () => false } = this.#options
    const foreign = addresses.filter((address) => !isOwn(address, this.#target.port))
    if (foreign.length > 0) return foreign
    throw new Failure('destination_misconfigured', 'dns', 'The host is this service itself, which would cause a mail loop.')
  }

  async #greet(link: Link): Promise<void> {
    const greeting = await link.ask('', this.#options.deadlines.greeting, 'greeting_timeout', 'greeting')
    if (greeting.code !== 220) throw refusedBy(greeting, 'greeting_refused', 'greeting')
    this.#done('greeting', `The host answered ${greeting.code}.`)
  }

  /** Sends EHLO, and again after STARTTLS, because extensions offered in clear text are then void (RFC 3207 §4.2). */
  async #introduce(link: Link): Promise<Capabilities> {
    const inClear = await this.#ehlo(link)
    if (this.#target.security !== 'starttls') return inClear
    if (!inClear.startTls) throw new Failure('starttls_unavailable', 'tls')
    const reply = await this.#command(link, 'STARTTLS', 'tls')
    // RFC 3207 §4: 454 means a temporary reason
    if (reply.code !== 220) throw refusedBy(reply, reply.code < 500 ? 'starttls_deferred' : 'starttls_unavailable', 'tls')
    await this.#secure(link)
    return this.#ehlo(link)
  }

  async #ehlo(link: Link): Promise<Capabilities> {
    const extended = await this.#command(link, `EHLO ${this.#options.heloName}`, 'ehlo')
    // RFC 5321 §3.2: a server without EHLO may still support HELO.
    const reply = extended.code >= 500 ? await this.#command(link, `HELO ${this.#options.heloName}`, 'ehlo') : extended
    if (reply.code !== 250) throw refusedBy(reply, 'ehlo_refused', 'ehlo')
    this.#done('ehlo', `The host answered ${reply.code}.`)
    return readCapabilities(extended.code === 250 ? extended.text : '')
  }

  async #secure(link: Link): Promise<void> {
    const bare = link.release()
    if (bare === undefined) throw link.failure ?? new Failure('connection_lost', 'tls')
    const { clock, deadlines } = this.#options
    const context = this.#options.context()
    const { host, tlsPolicy } = this.#target
    const verify = tlsPolicy !== 'insecure'
    const socket = await secure(bare, { host, verify, context, clock, deadlineMs: deadlines.tls, signal: this.#signal })
    this.#tls = tlsFacts(socket)
    link.adopt(socket)
    const { version, cipher, verified } = this.#tls
    this.#done('tls', `${version} with ${cipher}, certificate ${verified ? 'verified' : 'not verified'}.`)
  }

  async #authenticate(link: Link, capabilities: Capabilities, address: string): Promise<void> {
    const { tokens, deadlines } = this.#options
    const mechanism = await signIn(link, this.#target, { offered: capabilities.auth, address, tokens, commandMs: deadlines.command })
    if (mechanism !== undefined) this.#done('auth', `Signed in with AUTH ${mechanism}.`)
  }

  #command(link: Link, line: string, phase: Phase): Promise<PeerReply> {
    return link.ask(`${line}\r\n`, this.#options.deadlines.command, 'command_timeout', phase)
  }

  #done(step: Phase, detail: string): void {
    const now = this.#options.clock.monotonic()
    const milliseconds = now - this.#since
    this.#since = now
    this.#milliseconds.set(step, (this.#milliseconds.get(step) ?? 0) + milliseconds)
    this.#options.onStep?.(step, detail, milliseconds)
  }
}

function refusedBy(reply: PeerReply, code: AttemptErrorCode, phase: Phase): Failure {
  if (reply.code === 421) return new Failure('peer_closing', phase, undefined, reply)
  return new Failure(code, phase, `(${reply.code})`, reply)
}
