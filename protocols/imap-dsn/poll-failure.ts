/** Why a mailbox could not be read, in words for whoever set it up. They hold no word of the server beyond a code, and no secret. */

import { nameServersSilent } from '#core/outbound/resolver.ts'

export type PollProblem = 'dns' | 'name' | 'address' | 'connection' | 'tls' | 'login' | 'mailbox' | 'server' | 'time' | 'password' | 'store'

const sentences = {
  dns: nameServersSilent,
  name: 'The host name leads to no address.',
  address: 'The host leads to a loopback or private address, which the operator has not allowed (POSTERN_OUTBOUND_ALLOW).',
  connection: 'The server cannot be reached.',
  tls: 'No safe connection could be made: TLS failed, is not offered, or the certificate is not valid for the host.',
  login: 'The server refused user name and password.',
  mailbox: 'The mailbox does not exist or cannot be opened.',
  server: 'The server broke off or answered what cannot be understood.',
  time: 'The server took too long.',
  password: 'The password cannot be opened with the present master key; make the source anew.',
  store: 'What was read could not be stored; it is tried again.',
} as const satisfies Record<PollProblem, string>

export class PollFailure extends Error {
  override readonly name = 'PollFailure'
  readonly problem: PollProblem

  constructor(problem: PollProblem, cause?: unknown) {
    const code = codeOf(cause)
    super(code === '' ? sentences[problem] : `${sentences[problem].slice(0, -1)} (${code}).`, { cause })
    this.problem = problem
  }
}

/** What imapflow puts on its errors, and Node on those of sockets and TLS. */
interface ImapError {
  readonly code?: unknown
  readonly authenticationFailed?: boolean
  readonly serverResponseCode?: unknown
  readonly mailboxMissing?: boolean
  readonly tlsFailed?: boolean
  readonly responseStatus?: unknown
}

const unreachable = /^(?:ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM|EPIPE)$/
const late = /^(?:CONNECT_TIMEOUT|GREETING_TIMEOUT|UPGRADE_TIMEOUT|ETIMEOUT|ETIMEDOUT)$/
const unsafe = /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|STARTTLS_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/

/** What an error of the library means. */
export function toPollFailure(error: unknown): PollFailure {
  if (error instanceof PollFailure) return error
  const { authenticationFailed, tlsFailed, mailboxMissing, responseStatus } = (error ?? {}) as ImapError
  const code = codeOf(error)
  if (authenticationFailed) return new PollFailure('login', error)
  if (tlsFailed || unsafe.test(code)) return new PollFailure('tls', error)
  if (mailboxMissing || responseStatus === 'NO') return new PollFailure('mailbox', error)
  if (late.test(code)) return new PollFailure('time', error)
  return new PollFailure(unreachable.test(code) ? 'connection' : 'server', error)
}

/** Whether another address of the host may do better. */
export const isConnecting = ({ problem }: PollFailure): boolean => problem === 'connection' || problem === 'time'

/** A word in capitals, as programs write them. */
function codeOf(error: unknown): string {
  const { serverResponseCode, code } = (error ?? {}) as ImapError
  const word = serverResponseCode ?? code
  return typeof word === 'string' && /^[A-Za-z][A-Za-z0-9_-]{1,60}$/.test(word) ? word : ''
}
