/** Where a password may travel without TLS (RFC 4954 §4), and to whom STARTTLS is announced (RFC 3207 §4). */
import { BlockList, isIPv6 } from 'node:net'
import type { SMTPServerSession } from 'smtp-server'
import type { ListenAddress } from '../reception/reception-settings.ts'
import type { SubmissionOptions } from './submission-settings.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

const isLoopback = (address: string): boolean =>
  address === 'localhost' || (address !== '' && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'))

/** Ports where clients expect STARTTLS (RFC 6409 §3.1), and the one that takes its place without root. */
const startTlsPorts: ReadonlySet<number> = new Set([587, 2587])

/** What is known of a session when it asks. */
export type Link = Pick<SMTPServerSession, 'secure' | 'remoteAddress'>

/** The rule of one listener. */
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

  /** Whether some client may log in without TLS here. */
  get allowsClear(): boolean {
    return this.#inClear
  }

  mayLogIn({ secure, remoteAddress }: Link): boolean {
    return secure || (this.#inClear && isLoopback(remoteAddress))
  }

  /**
   * Clients that use STARTTLS wherever they see it refuse a certificate that no authority signed. On this machine, where TLS
   * hides nothing from anybody, it is not announced to them; a client that asks for it gets it all the same.
   */
  announcesStartTls(link: Link): boolean {
    return !this.#isSelfMade || !this.mayLogIn(link)
  }
}
