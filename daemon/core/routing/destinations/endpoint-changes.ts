/** A change of a destination's endpoint: what is left out stays, but a stored password never moves to another host. */
import { invalid } from '../../refusals.ts'
import type { SmtpDestination } from '../destination.ts'
import type { Endpoint, EndpointRequest } from './endpoint.ts'
import type { OAuth2Request } from './oauth2.ts'

/** Null for user name and password clears both, and an OAuth 2.0 grant with them. */
export type EndpointChanges = Omit<EndpointRequest, 'username' | 'password' | 'oauth2' | 'keepsPassword'> & {
  readonly username?: string | null | undefined
  readonly password?: string | null | undefined
  readonly oauth2?: OAuth2Request | null | undefined
}

/** The server must prove itself against this secret of ours. */
const hasSecret = ({ sealedPassword, oauth2 }: SmtpDestination): boolean => sealedPassword !== null || oauth2 !== undefined

/** The endpoint that is meant. A named preset, or another host, begins anew with what the preset knows and a verified certificate. */
export function mergeEndpoint(stored: SmtpDestination, changes: EndpointChanges): EndpointRequest & { readonly keepsPassword: boolean } {
  const { preset, host, port, security, tlsPolicy } = changes
  const username = changes.username === undefined ? stored.username : changes.username
  const keepsPassword = changes.password === undefined && changes.oauth2 === undefined && hasSecret(stored)
  if (keepsPassword && username === null)
    throw invalid([{ path: 'credentials.password', message: 'must be null too, so that user name and password are both cleared' }])
  const { password, oauth2 } = changes
  const login = { username: username ?? undefined, password: password ?? undefined, oauth2: oauth2 ?? undefined, keepsPassword }
  if (preset !== undefined) return { ...login, preset, host, port, security, tlsPolicy }
  const sameServer = host === undefined && port === undefined && security === undefined
  return {
    ...login,
    preset: sameServer ? (stored.preset ?? undefined) : undefined,
    host: host ?? stored.host,
    port: port ?? stored.port,
    security: security ?? stored.security,
    tlsPolicy: tlsPolicy ?? (host === undefined ? stored.tlsPolicy : undefined),
  }
}

/** Throws `validation_failed` when the kept password would be shown to another server, or on a link protected otherwise. */
export function assertPasswordStays(stored: SmtpDestination, endpoint: Endpoint): void {
  const fields = ['host', 'port', 'security', 'tlsPolicy'] as const
  if (hasSecret(stored) && fields.every((field) => stored[field] === endpoint[field])) return
  const [kind, path] = stored.oauth2 ? ['OAuth 2.0 grant', 'credentials.oauth2'] : ['password', 'credentials.password']
  throw invalid([{ path, message: `give it again: a stored ${kind} is not reused with another host, port, security or tls_policy` }])
}
