/** Decides which clients may log in without TLS (RFC 4954 §4), and which clients see STARTTLS (RFC 3207 §4). */
import { BlockList, isIPv6 } from 'node:net'
import type { SMTPServerSession } from 'smtp-server'
import type { ListenAddress } from '../reception/reception-settings.ts'
import type { SubmissionOptions } from './submission-settings.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const isLoopback = (address: string): boolean =>
  address === 'localhost' || (address !== '' && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'))

/** Ports where clients expect STARTTLS: 587 (RFC 6409 §3.1), and 2587, the default without root. */
const startTlsPorts: ReadonlySet<number> = new Set([587, 2587])

/** Properties of a session that the rule depends on. */
export type Link = Pick<SMTPServerSession, 'secure' | 'remoteAddress'>

/** Rule of one listener. */
export class TlsRule {
  /** Loopback clients may log in without TLS. */
  readonly #inClear: boolean
  readonly #isSelfMade: boolean

  constructor({ cleartextAuth, tls }: Pick<SubmissionOptions, 'cleartextAuth' | 'tls'>, { host, port }: ListenAddress) {
    const { isSelfMade = false } = tls
    const wantsTls = startTlsPorts.has(port) || !isLoopback(host)
    this.#inClear = cleartextAuth === 'loopback' || (cleartextAuth === 'auto' && isSelfMade && !wantsTls)
    this.#isSelfMade = isSelfMade && !wantsTls
  }

  /** Whether any client may log in without TLS on this listener. */
  get allowsClear(): boolean {
    return this.#inClear
  }

  mayLogIn({ secure, remoteAddress }: Link): boolean {
    return secure || (this.#inClear && isLoopback(remoteAddress))
  }

  /**
   * Whether EHLO announces STARTTLS. Clients that always use an announced STARTTLS fail with a self-made certificate. So the server does
   * not announce it to loopback clients that may log in without TLS; it still serves the command.
   */
  announcesStartTls(link: Link): boolean {
    return !this.#isSelfMade || !this.mayLogIn(link)
  }
}
