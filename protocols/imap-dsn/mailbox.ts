/** Reads a mailbox on an IMAP server (RFC 9051). Never changes, marks or deletes a mail. */
import { isIP } from 'node:net'
import type { AddressGuard } from '#core/outbound/address-guard.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import type { ImapFlow, SearchObject } from 'imapflow'
import { permittedAddresses } from '../outbound/dial.ts'
import { OutboundFailure } from '../outbound/failure.ts'
import { authoritiesWith } from '../outbound/tls.ts'
import { isConnecting, PollFailure, toPollFailure } from './poll-failure.ts'

export interface ImapNetwork {
  readonly resolver: Resolver
  readonly guard: AddressGuard
  /** Trusted certificates in PEM, in addition to the system's; null for none. */
  readonly trusted: string | null
  /** Timeout in milliseconds of each step: the connection, the greeting, and each wait for the server. */
  readonly stepMs: number
}

export interface ImapLogin {
  readonly host: string
  readonly port: number
  /** `tls`: TLS from the first octet. `starttls`: STARTTLS before any other use. */
  readonly security: 'tls' | 'starttls'
  readonly username: string
  readonly password: string
  readonly mailbox: string
}

/** A report states its facts before the returned message, so the first octets of a mail are enough. */
export const maxReadOctets = 1024 * 1024
const maxAddresses = 4
/** A search finds at most twice this number of mails, because the library parses an answer in one turn of the event loop. */
const searchedMails = 1000
/** Limits of server responses. The answer to a search is one line. */
export const limits = { maxLiteralSize: 2 * maxReadOctets, maxLineLength: 32_768, maxResponseSize: 4 * maxReadOctets }

/** Connects and opens the mailbox. `signal` ends the connection at any time. Throws `PollFailure`. */
export async function openMailbox(network: ImapNetwork, login: ImapLogin, signal: AbortSignal): Promise<ImapMailbox> {
  const addresses = await permitted(network, login)
  // loaded when first needed: the library takes 4 MiB of memory
  const { ImapFlow: Client } = await import('imapflow')
  let failure = new PollFailure('name')
  for (const address of addresses.slice(0, maxAddresses)) {
    const client = new Client(optionsOf(network, login, address))
    const mailbox = new ImapMailbox(client, signal)
    try {
      await mailbox.enter(login.mailbox)
      return mailbox
    } catch (error) {
      mailbox.end()
      failure = toPollFailure(error)
      if (signal.aborted || !isConnecting(failure)) break
    }
  }
  throw failure
}

async function permitted(network: ImapNetwork, { host, port }: ImapLogin): Promise<readonly string[]> {
  try {
    return await permittedAddresses(network, host, port)
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error
    if (error.code === 'address_forbidden') throw new PollFailure('address')
    throw new PollFailure(error.code === 'dns_not_found' ? 'name' : 'dns', error.cause)
  }
}

/** Options of the library. It connects to the checked address and verifies the certificate against the host name. */
function optionsOf({ trusted, stepMs }: ImapNetwork, login: ImapLogin, address: string): ConstructorParameters<typeof ImapFlow>[0] {
  const { host, port, security, username, password } = login
  return {
    host: address,
    port,
    ...(isIP(host) === 0 && { servername: host }),
    ...(security === 'tls' ? { secure: true } : { secure: false, doSTARTTLS: true }),
    auth: { user: username, pass: password },
    clientInfo: { name: 'Postern', vendor: 'Postern', 'support-url': '' },
    tls: { minVersion: 'TLSv1.2', ...(trusted !== null && { ca: authoritiesWith([trusted]) }) },
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    disableAutoIdle: true,
    disableCompression: true,
    ...limits,
    logger: false,
  }
}

export class ImapMailbox {
  /** UIDVALIDITY of the mailbox (RFC 9051 §2.3.1.1). */
  uidValidity = ''
  #exists = 0
  readonly #client: ImapFlow
  readonly #signal: AbortSignal
  readonly #end = (): void => this.end()

  constructor(client: ImapFlow, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
    // an error of the connection also rejects the current command
    client.on('error', () => undefined)
    signal.addEventListener('abort', this.#end)
    if (signal.aborted) this.end()
  }

  /** Connects, logs in and opens the mailbox read-only (EXAMINE), so that reading marks no mail. Throws errors of the library. */
  async enter(path: string): Promise<void> {
    await this.#client.connect()
    const { uidValidity, exists } = await this.#client.mailboxOpen(path, { readOnly: true })
    this.uidValidity = String(uidValidity)
    this.#exists = exists
  }

  /** Returns the first UIDs after `uid`, ascending: all of them, or at least `searchedMails`. Throws `PollFailure`. */
  async uidsAfter(uid: number): Promise<readonly number[]> {
    const isNew = `${uid + 1}:*`
    let [first, last] = [1, this.#exists]
    while (last - first >= searchedMails) {
      const middle = Math.floor((first + last) / 2)
      if ((await this.#search({ seq: String(middle), uid: isNew }, uid)).length > 0) last = middle
      else first = middle + 1
    }
    const end = Math.min(this.#exists, last + searchedMails)
    const found = first > end ? [] : await this.#search({ seq: `${first}:${end}`, uid: isNew }, uid)
    if (first === 1 || found[0] === uid + 1) return found
    // mails that were deleted during the search moved the others to smaller sequence numbers
    const before = await this.#search({ uid: found[0] === undefined ? isNew : `${uid + 1}:${found[0] - 1}` }, uid)
    return [...before, ...found]
  }

  async #search(query: SearchObject, uid: number): Promise<readonly number[]> {
    const found = await this.#ask(() => this.#client.search(query, { uid: true }))
    if (!Array.isArray(found)) throw new PollFailure('server')
    // `*` means the last mail, whose UID can be below the range (RFC 9051 §9, seq-range)
    return found.filter((one) => one > uid).toSorted((a, b) => a - b)
  }

  /**
   * Returns the mail or its first `maxReadOctets`. Returns undefined if the mail was deleted or the server answers NO. Throws
   * `PollFailure`.
   */
  async read(uid: number): Promise<Buffer | undefined> {
    const query = { uid: true, source: { start: 0, maxLength: maxReadOctets } }
    const found = await this.#ask(() =>
      this.#client.fetchAll(String(uid), query, { uid: true }).catch((error: unknown) => {
        if ((error as { readonly responseStatus?: unknown }).responseStatus === 'NO') return []
        throw error
      }),
    )
    // a server may report the flags of other mails in its answer (RFC 9051 §7.5.2)
    const mail = found.find((one) => one.uid === uid && one.source)
    // after a closed connection or a BYE (RFC 9051 §7.1.5), the library answers as if the mail did not exist
    if (!mail && !this.#isOpen()) throw new PollFailure('server')
    return mail?.source
  }

  /** Sends LOGOUT and closes the connection. Never throws. */
  async leave(): Promise<void> {
    await this.#client.logout().catch(() => undefined)
    this.end()
  }

  /** Closes the connection immediately. */
  end(): void {
    this.#signal.removeEventListener('abort', this.#end)
    this.#client.close()
  }

  #isOpen(): boolean {
    const { usable, mailbox, state, states } = this.#client
    return usable && mailbox !== false && state === states.SELECTED
  }

  async #ask<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw toPollFailure(error)
    }
  }
}
