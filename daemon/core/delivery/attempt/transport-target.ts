/** Builds the input of a transport: the destination with decrypted secrets, and the outgoing message. */
import { readContent } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import type { QueueEntry } from '#store/queue.ts'
import type { SecretBox } from '../../access/secret-box.ts'
import { oauth2Context, passwordContext, secretContext, type Destination, type HttpDestination } from '../../routing/destination.ts'
import { openOAuth2 } from '../../routing/destinations/oauth2.ts'
import type { AttemptRecord } from '../../trace/attempt-record.ts'
import { serviceRefField } from '../../trace/trace-token.ts'
import type { Trace } from '../../trace/trace.ts'
import type { DeliveryJob, TransportTarget } from '../transport.ts'

/** Returns the destination with decrypted secrets; undefined if a secret cannot be decrypted. */
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

/** Endpoint for the record of an attempt that has only begun. */
export const endpointOf = (target: TransportTarget): Pick<AttemptRecord, 'provider' | 'host' | 'port'> =>
  target.provider === 'smtp' ? { provider: 'smtp', host: target.host, port: target.port } : { provider: target.provider }

/** Returns one delivery job for the remaining recipients. */
export function jobOf(
  database: Database,
  entry: QueueEntry,
  trace: Trace,
  content: readonly Uint8Array[] | undefined,
  signal: AbortSignal,
  envelopeId: string,
): Omit<DeliveryJob, 'beforeFinalDot'> {
  const prefix = Buffer.from(trace.prefix + serviceRefField(envelopeId))
  return {
    traceId: trace.id,
    organizationId: entry.organizationId,
    envelopeId,
    mailFrom: trace.mailFrom,
    rcptTo: trace.recipients.filter(({ status }) => status === 'queued').map(({ address }) => address),
    eightBit: trace.eightBit,
    smtputf8: trace.smtputf8,
    size: prefix.length + trace.content.size,
    content: () => (content ? [prefix, ...content] : withPrefix(prefix, readContent(database, entry.organizationId, trace.content))),
    signal,
  }
}

async function* withPrefix(prefix: Uint8Array, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (prefix.length > 0) yield prefix
  yield* body
}
