/** Signs in with AUTH (RFC 4954): PLAIN (RFC 4616) or LOGIN, depending on the peer, or XOAUTH2 with access tokens instead of a password. */
import { isLoopbackAddress } from '#core/outbound/address-guard.ts'
import type { PeerReply, SmtpTarget } from '#core/delivery/transport.ts'
import type { OAuth2Grant } from '#core/routing/destinations/oauth2.ts'
import { Failure } from '../../attempt-failure.ts'
import type { Link } from './link.ts'

/** Source of access tokens. */
export interface TokenSource {
  /** Returns a token. `kept`: it was cached, so it may have been revoked. Throws `Failure`. */
  get(grant: OAuth2Grant): Promise<{ readonly token: string; readonly kept: boolean }>
  /** Drops a token that the peer refused. */
  discard(grant: OAuth2Grant, token: string): void
}

/** Properties of the peer before the sign-in. */
export interface SignInOptions {
  /** Offered mechanisms in upper case. */
  readonly offered: readonly string[]
  readonly address: string
  readonly tokens: TokenSource
  readonly commandMs: number
}

type Ask = (line: string) => Promise<PeerReply>

// RFC 4954 §4: a longer initial response does not fit on the command line.
const maxInitialResponse = 500

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/**
 * Signs in if the destination has a user name, and returns the mechanism. Throws `Failure`, which never contains a password or token, even
 * if the peer repeats it.
 */
export async function signIn(link: Link, target: SmtpTarget, options: SignInOptions): Promise<string | undefined> {
  const { offered, address, commandMs } = options
  if (!target.username) return undefined
  if (target.security === 'none' && !isLoopbackAddress(address)) throw new Failure('auth_needs_tls', 'auth')
  const ask: Ask = (line) => link.ask(`${line}\r\n`, commandMs, 'command_timeout', 'auth')
  if (target.oauth2) {
    if (!offered.includes('XOAUTH2')) throw new Failure('auth_unavailable', 'auth', 'The host does not offer XOAUTH2.')
    await bearerDialog(ask, link, target.username, target.oauth2, options.tokens)
    return 'XOAUTH2'
  }
  const password = target.password ?? ''
  const plain = base64(`\0${target.username}\0${password}`)
  link.hide([plain, base64(password), password])
  if (offered.includes('PLAIN')) {
    demand(await respond(ask, 'PLAIN', plain), 235)
    return 'PLAIN'
  }
  if (!offered.includes('LOGIN')) throw new Failure('auth_unavailable', 'auth')
  demand(await ask('AUTH LOGIN'), 334)
  demand(await ask(base64(target.username)), 334)
  demand(await ask(base64(password)), 235)
  return 'LOGIN'
}

/** Runs a mechanism with one response. Sends the response with the command if it is short enough. */
async function respond(ask: Ask, mechanism: string, response: string): Promise<PeerReply> {
  if (response.length <= maxInitialResponse) return ask(`AUTH ${mechanism} ${response}`)
  demand(await ask(`AUTH ${mechanism}`), 334)
  return ask(response)
}

/** Runs XOAUTH2. Replaces a refused cached token once, over the same link. */
async function bearerDialog(ask: Ask, link: Link, username: string, grant: OAuth2Grant, tokens: TokenSource): Promise<void> {
  const secrets: string[] = []
  for (let first = true; ; first = false) {
    const { token, kept } = await tokens.get(grant)
    const response = base64(`user=${username}\x01auth=Bearer ${token}\x01\x01`)
    secrets.push(response, token)
    link.hide(secrets)
    let reply = await respond(ask, 'XOAUTH2', response)
    // The peer sends the problem as a challenge, and refuses only after an empty response.
    if (reply.code === 334) reply = await ask('')
    if (reply.code === 235) return
    if (reply.code === 535) tokens.discard(grant, token)
    if (reply.code !== 535 || !kept || !first) return demand(reply, 235)
  }
}

function demand(reply: PeerReply, code: number): void {
  if (reply.code === code) return
  if (reply.code === 421) throw new Failure('peer_closing', 'auth', undefined, reply)
  if (reply.code >= 500) throw new Failure('auth_failed', 'auth', `(${reply.code})`, reply)
  if (reply.code >= 400) throw new Failure('auth_deferred', 'auth', `(${reply.code})`, reply)
  throw new Failure('protocol_error', 'auth', `The host answered AUTH with ${reply.code}.`, reply)
}
