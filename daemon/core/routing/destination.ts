/** Destinations: the customer's mail providers. Spec "Destination". */
import { httpProviderIds } from '#config/mail/providers.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

export const securities = ['tls', 'starttls', 'none'] as const
export const tlsPolicies = ['verify', 'insecure'] as const
export const sharings = ['org', 'org_default'] as const

/** Grant for access tokens of a destination, used instead of a password. */
const oauth2 = z.strictObject({
  tokenUrl: z.string(),
  clientId: z.string(),
  scope: z.string().nullable(),
  grant: z.enum(['client_credentials', 'refresh_token']),
  /** Client secret and refresh token, sealed under `destination/<id>/oauth2`. */
  sealedSecrets: z.string(),
})
export type DestinationOAuth2 = Immutable<z.infer<typeof oauth2>>

/** Settings of destinations of all providers. */
const settings = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** Organization-wide, or also the default sender. Absent: only for its project. Spec "Project rules" 6. */
  shared: z.enum(sharings).optional(),
  name: z.string(),
  environment: z.string().nullable(),
  priority: z.int(),
  /** New destinations are in sandbox mode: their mail is captured. */
  mode: z.enum(['sandbox', 'live']),
  /** Time of the last promotion to live; absent if there was none. */
  liveAt: z.int().optional(),
  /** From of REST sends without From. */
  from: z.string().nullable(),
  maxConnections: z.int(),
  /** Messages per minute; null for no limit. */
  maxRatePerMin: z.int().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})
export type DestinationSettings = Immutable<z.infer<typeof settings>>

/** An SMTP server. */
const smtp = z.strictObject({
  ...settings.shape,
  provider: z.literal('smtp'),
  /** The preset that supplied host, port and security. */
  preset: z.string().nullable(),
  host: z.string(),
  port: z.int(),
  /** `tls`: implicit TLS. `starttls`: required, never opportunistic. `none`: plaintext. */
  security: z.enum(securities),
  tlsPolicy: z.enum(tlsPolicies),
  username: z.string().nullable(),
  /** Sealed under `destination/<id>/password`. */
  sealedPassword: z.string().nullable(),
  oauth2: oauth2.optional(),
})
export type SmtpDestination = Immutable<z.infer<typeof smtp>>

/** A provider with an HTTP API. */
const http = z.strictObject({
  ...settings.shape,
  provider: z.enum(httpProviderIds),
  /** Replaces the provider's origin. */
  baseUrl: z.string().nullable(),
  /** Public credentials by the provider's names. */
  credentials: z.record(z.string(), z.string()),
  /** Secret credentials, each sealed under `destination/<id>/<name>`. */
  sealedCredentials: z.record(z.string(), z.string()),
})
export type HttpDestination = Immutable<z.infer<typeof http>>

/** One configured mail provider. */
export type Destination = SmtpDestination | HttpDestination

export const destinations = defineRecord<Destination>({
  name: 'destination',
  schema: z.discriminatedUnion('provider', [smtp, http]),
  isSetting: true,
  isTracked: true,
  projectOf: ({ shared, projectId }) => (shared === undefined ? projectId : undefined),
})

/** Sealing context of a secret. */
export const secretContext = (destinationId: string, name: string): string => `destination/${destinationId}/${name}`

/** Sealing context of an SMTP password. */
export const passwordContext = (destinationId: string): string => secretContext(destinationId, 'password')

/** Sealing context of the secrets of an OAuth 2.0 grant. */
export const oauth2Context = (destinationId: string): string => secretContext(destinationId, 'oauth2')

/** Returns the server or provider, for display. */
export const addressOf = (destination: Destination): string => {
  if (destination.provider === 'smtp') return `${destination.host}:${destination.port}`
  return destination.baseUrl === null ? destination.provider : `${destination.provider} at ${destination.baseUrl}`
}
