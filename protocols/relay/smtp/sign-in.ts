/** RFC 4954 AUTH with PLAIN (RFC 4616) or LOGIN, whichever the peer offers. */
import { isLoopbackAddress } from '#core/outbound/address-guard.ts'
import type { PeerReply, TransportTarget } from '#core/delivery/transport.ts'
import { Failure } from './failure.ts'
import type { Link } from './link.ts'

// RFC 4954 §4: a longer initial response must not be put on the command line.
const initialResponseMax = 500

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Signs in when the destination has a user name. Throws `Failure`; no password is in it, whatever the peer said. */
export async function signIn(
  link: Link,
  target: TransportTarget,
  offered: readonly string[],
  address: string,
  commandMs: number,
): Promise<string | undefined> {
  if (!target.username) return undefined
  if (target.security === 'none' && !isLoopbackAddress(address)) throw new Failure('auth_needs_tls', 'auth')
  const password = target.password ?? ''
  const plain = base64(`\0${target.username}\0${password}`)
  link.hide([plain, base64(password), password])
  const ask = (line: string): Promise<PeerReply> => link.ask(`${line}\r\n`, commandMs, 'command_timeout', 'auth')
  if (offered.includes('PLAIN')) {
    await plainDialog(ask, plain)
    return 'PLAIN'
  }
  if (!offered.includes('LOGIN')) throw new Failure('auth_unavailable', 'auth')
  demand(await ask('AUTH LOGIN'), 334)
  demand(await ask(base64(target.username)), 334)
  demand(await ask(base64(password)), 235)
  return 'LOGIN'
}

async function plainDialog(ask: (line: string) => Promise<PeerReply>, plain: string): Promise<void> {
  if (plain.length <= initialResponseMax) return demand(await ask(`AUTH PLAIN ${plain}`), 235)
  demand(await ask('AUTH PLAIN'), 334)
  demand(await ask(plain), 235)
}

function demand(reply: PeerReply, code: number): void {
  if (reply.code === code) return
  if (reply.code === 421) throw new Failure('peer_closing', 'auth', undefined, reply)
  if (reply.code >= 500) throw new Failure('auth_failed', 'auth', `(${reply.code})`, reply)
  if (reply.code >= 400) throw new Failure('auth_deferred', 'auth', `(${reply.code})`, reply)
  throw new Failure('protocol_error', 'auth', `It answered AUTH with ${reply.code}.`, reply)
}
