/** Change of a destination's endpoint. Omitted fields keep their value, but a stored password is never used for another host. */
import { invalid } from '../../refusals.ts'
import type { SmtpDestination } from '../destination.ts'
import type { Endpoint, EndpointRequest } from './endpoint.ts'
import type { OAuth2Request } from './oauth2.ts'

/** Null for user name and password clears both, and an OAuth 2.0 grant. */
export type EndpointChanges = Omit<EndpointRequest, 'username' | 'password' | 'oauth2' | 'keepsPassword'> & {
  readonly username?: string | null | undefined
  readonly password?: string | null | undefined
  readonly oauth2?: OAuth2Request | null | undefined
}

/** Returns true if the endpoint has a secret, which requires an authenticated server. */
const hasSecret = ({ sealedPassword, oauth2 }: SmtpDestination): boolean => sealedPassword !== null || oauth2 !== undefined

/** Returns the merged endpoint. A named preset or another host resets the rest to the preset's values and a verified certificate. */
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

/** Throws `validation_failed` if the stored password would be sent to another server, or over a connection with different protection. */
export function assertPasswordStays(stored: SmtpDestination, endpoint: Endpoint): void {
  const fields = ['host', 'port', 'security', 'tlsPolicy'] as const
  if (hasSecret(stored) && fields.every((field) => stored[field] === endpoint[field])) return
  const [kind, path] = stored.oauth2 ? ['OAuth 2.0 grant', 'credentials.oauth2'] : ['password', 'credentials.password']
  throw invalid([{ path, message: `give it again: a stored ${kind} is not reused with another host, port, security or tls_policy` }])
}
