/** Destinations: the customer's own providers. Spec "Destination". */
import { httpProviderIds, type HttpProvider } from '#config/mail/providers.ts'
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import type { SealedSecret } from '../access/secret-box.ts'

export const securities = ['tls', 'starttls', 'none'] as const
export const tlsPolicies = ['verify', 'insecure'] as const
export const sharings = ['org', 'org_default'] as const

/** How access tokens for a destination are had, in place of a password. */
export interface DestinationOAuth2 {
  readonly tokenUrl: string
  readonly clientId: string
  readonly scope: string | null
  readonly grant: 'client_credentials' | 'refresh_token'
  /** Client secret and refresh token, sealed under `destination/<id>/oauth2`. */
  readonly sealedSecrets: string
}

/** What every destination has, whatever its provider speaks. */
export interface DestinationSettings {
  readonly id: string
  readonly projectId: string
  /** Organization-wide, or even its default sender; left out, it is its project's alone. Spec "Project rules" 6. */
  readonly shared?: (typeof sharings)[number] | undefined
  readonly name: string
  readonly environment: string | null
  readonly priority: number
  /** New destinations are sandboxed: what would go there is captured. */
  readonly mode: 'sandbox' | 'live'
  /** The From used when a REST send names none. */
  readonly from: string | null
  readonly maxConnections: number
  /** Messages a minute; null is no limit. */
  readonly maxRatePerMin: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** A server that is spoken to over SMTP. */
export interface SmtpDestination extends DestinationSettings {
  readonly provider: 'smtp'
  /** The preset that filled in host, port and security. */
  readonly preset: string | null
  readonly host: string
  readonly port: number
  /** `tls`: from the first byte; `starttls`: required, never opportunistic; `none`: in clear. */
  readonly security: (typeof securities)[number]
  readonly tlsPolicy: (typeof tlsPolicies)[number]
  readonly username: string | null
  /** Sealed under `destination/<id>/password`. */
  readonly sealedPassword: string | null
  readonly oauth2?: DestinationOAuth2 | undefined
}

/** A provider with an API over HTTP. */
export interface HttpDestination extends DestinationSettings {
  readonly provider: HttpProvider
  /** Origin of an endpoint in place of the provider's own. */
  readonly baseUrl: string | null
  /** The credentials that are no secrets, by the provider's names. */
  readonly credentials: Readonly<Record<string, string>>
  /** The secret ones, each sealed under `destination/<id>/<name>`. */
  readonly sealedCredentials: Readonly<Record<string, SealedSecret>>
}

/** One configured outbound provider. */
export type Destination = SmtpDestination | HttpDestination

const settings = {
  id: z.string(),
  projectId: z.string(),
  shared: z.enum(sharings).optional(),
  name: z.string(),
  environment: z.string().nullable(),
  priority: z.int(),
  mode: z.enum(['sandbox', 'live']),
  from: z.string().nullable(),
  maxConnections: z.int(),
  maxRatePerMin: z.int().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
}

export const destinations = defineRecord<Destination>({
  name: 'destination',
  schema: z.discriminatedUnion('provider', [
    z.strictObject({
      ...settings,
      provider: z.literal('smtp'),
      preset: z.string().nullable(),
      host: z.string(),
      port: z.int(),
      security: z.enum(securities),
      tlsPolicy: z.enum(tlsPolicies),
      username: z.string().nullable(),
      sealedPassword: z.string().nullable(),
      oauth2: z
        .strictObject({
          tokenUrl: z.string(),
          clientId: z.string(),
          scope: z.string().nullable(),
          grant: z.enum(['client_credentials', 'refresh_token']),
          sealedSecrets: z.string(),
        })
        .optional(),
    }),
    z.strictObject({
      ...settings,
      provider: z.enum(httpProviderIds),
      baseUrl: z.string().nullable(),
      credentials: z.record(z.string(), z.string()),
      sealedCredentials: z.record(z.string(), z.string()),
    }),
  ]),
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
