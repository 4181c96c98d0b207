/**
 * Errors of mailbox polls, for the person who configured the mailbox. A text contains at most an error code of the server, and no secret.
 */

import { nameServersSilent } from '#core/outbound/resolver.ts'

export type PollProblem = 'dns' | 'name' | 'address' | 'connection' | 'tls' | 'login' | 'mailbox' | 'server' | 'time' | 'password' | 'store'

const sentences = {
  dns: nameServersSilent,
  name: 'The host name does not resolve to an address.',
  address: 'The host resolves to a loopback or private address that POSTERN_OUTBOUND_ALLOW does not allow.',
  connection: 'The server cannot be reached.',
  tls: 'No secure connection: TLS failed, the server does not offer it, or the certificate is not valid for the host.',
  login: 'The server refused the user name and password.',
  mailbox: 'The mailbox does not exist or cannot be opened.',
  server: 'The server closed the connection or sent an invalid answer.',
  time: 'The server took too long.',
  password: 'The password cannot be decrypted with the current master key. Create the source again.',
  store: 'A mail could not be stored. The next poll reads it again.',
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

/** Properties of errors of imapflow, and of Node for sockets and TLS. */
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

/** Maps an error of the library to a `PollFailure`. */
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

/** Whether another address of the host may work. */
export const isConnecting = ({ problem }: PollFailure): boolean => problem === 'connection' || problem === 'time'

/** Returns the error code, or an empty string if the value does not have the form of a code. */
function codeOf(error: unknown): string {
  const { serverResponseCode, code } = (error ?? {}) as ImapError
  const word = serverResponseCode ?? code
  return typeof word === 'string' && /^[A-Za-z][A-Za-z0-9_-]{1,60}$/.test(word) ? word : ''
}
