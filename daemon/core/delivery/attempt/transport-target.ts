/** A destination as its transport takes it: what the destination holds, with its secrets opened. */
import type { SecretBox } from '../../access/secret-box.ts'
import { oauth2Context, passwordContext, secretContext, type Destination, type HttpDestination } from '../../routing/destination.ts'
import { openOAuth2 } from '../../routing/destinations/oauth2.ts'
import type { TransportTarget } from '../transport.ts'

/** The settings of a destination with its secrets opened; undefined when one does not open. */
export function toTarget(destination: Destination, secrets: SecretBox): TransportTarget | undefined {
  if (destination.provider !== 'smtp') return toHttpTarget(destination, secrets)
  const { id, provider, host, port, security, tlsPolicy, maxConnections, updatedAt, username, sealedPassword } = destination
  const password = sealedPassword === null ? undefined : secrets.open(sealedPassword, passwordContext(id))
  const oauth2 = destination.oauth2 && openOAuth2(destination.oauth2, (sealed) => secrets.open(sealed, oauth2Context(id)))
  if ((sealedPassword !== null && password === undefined) || (destination.oauth2 && !oauth2)) return undefined
  return {
    destinationId: id,
    revision: String(updatedAt),
    provider,
    host,
    port,
    security,
    tlsPolicy,
    maxConnections,
    username: username ?? undefined,
    password,
    oauth2,
  }
}

function toHttpTarget(destination: HttpDestination, secrets: SecretBox): TransportTarget | undefined {
  const { id, provider, maxConnections, updatedAt, baseUrl, credentials, sealedCredentials } = destination
  const opened: Record<string, string> = {}
  for (const [name, sealed] of Object.entries(sealedCredentials)) {
    const secret = secrets.open(sealed, secretContext(id, name))
    if (secret === undefined) return undefined
    opened[name] = secret
  }
  return {
    destinationId: id,
    revision: String(updatedAt),
    provider,
    maxConnections,
    baseUrl: baseUrl ?? undefined,
    credentials: { ...credentials, ...opened },
    secrets: Object.values(opened),
  }
}
