/** Destinations: the customer's own providers. Spec "Destination". */
import { httpProviderIds } from '#config/mail/providers.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

export const securities = ['tls', 'starttls', 'none'] as const
export const tlsPolicies = ['verify', 'insecure'] as const
export const sharings = ['org', 'org_default'] as const

/** How access tokens for a destination are had, in place of a password. */
const oauth2 = z.strictObject({
  tokenUrl: z.string(),
  clientId: z.string(),
  scope: z.string().nullable(),
  grant: z.enum(['client_credentials', 'refresh_token']),
  /** Client secret and refresh token, sealed under `destination/<id>/oauth2`. */
  sealedSecrets: z.string(),
})
export type DestinationOAuth2 = Immutable<z.infer<typeof oauth2>>

/** What every destination has, whatever its provider speaks. */
const settings = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** Organization-wide, or even its default sender; left out, it is its project's alone. Spec "Project rules" 6. */
  shared: z.enum(sharings).optional(),
  name: z.string(),
  environment: z.string().nullable(),
  priority: z.int(),
  /** New destinations are sandboxed: what would go there is captured. */
  mode: z.enum(['sandbox', 'live']),
  /** The From used when a REST send names none. */
  from: z.string().nullable(),
  maxConnections: z.int(),
  /** Messages a minute; null is no limit. */
  maxRatePerMin: z.int().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})
export type DestinationSettings = Immutable<z.infer<typeof settings>>

/** A server that is spoken to over SMTP. */
const smtp = z.strictObject({
  ...settings.shape,
  provider: z.literal('smtp'),
  /** The preset that filled in host, port and security. */
  preset: z.string().nullable(),
  host: z.string(),
  port: z.int(),
  /** `tls`: from the first byte; `starttls`: required, never opportunistic; `none`: in clear. */
  security: z.enum(securities),
  tlsPolicy: z.enum(tlsPolicies),
  username: z.string().nullable(),
  /** Sealed under `destination/<id>/password`. */
  sealedPassword: z.string().nullable(),
  oauth2: oauth2.optional(),
})
export type SmtpDestination = Immutable<z.infer<typeof smtp>>

/** A provider with an API over HTTP. */
const http = z.strictObject({
  ...settings.shape,
  provider: z.enum(httpProviderIds),
  /** Origin of an endpoint in place of the provider's own. */
  baseUrl: z.string().nullable(),
  /** The credentials that are no secrets, by the provider's names. */
  credentials: z.record(z.string(), z.string()),
  /** The secret ones, each sealed under `destination/<id>/<name>`. */
  sealedCredentials: z.record(z.string(), z.string()),
})
export type HttpDestination = Immutable<z.infer<typeof http>>

/** One configured outbound provider. */
export type Destination = SmtpDestination | HttpDestination

export const destinations = defineRecord<Destination>({
  name: 'destination',
  schema: z.discriminatedUnion('provider', [smtp, http]),
  isSetting: true,
  isTracked: true,
  projectOf: ({ shared, projectId }) => (shared === undefined ? projectId : undefined),
})

/** The place a secret of it is sealed for. */
export const secretContext = (destinationId: string, name: string): string => `destination/${destinationId}/${name}`

/** The place the password of an SMTP destination is sealed for. */
export const passwordContext = (destinationId: string): string => secretContext(destinationId, 'password')

/** The place the secrets of its OAuth 2.0 grant are sealed for. */
export const oauth2Context = (destinationId: string): string => secretContext(destinationId, 'oauth2')

/** Where its mail goes, in words for people. */
export const addressOf = (destination: Destination): string => {
  if (destination.provider === 'smtp') return `${destination.host}:${destination.port}`
  return destination.baseUrl === null ? destination.provider : `${destination.provider} at ${destination.baseUrl}`
}
