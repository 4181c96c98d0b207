/** Destinations: the customer's own providers. Spec "Destination". */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'

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

/** One configured outbound provider. */
export interface Destination {
  readonly id: string
  readonly projectId: string
  /** Organization-wide, or even its default sender; left out, it is its project's alone. Spec "Project rules" 6. */
  readonly shared?: (typeof sharings)[number] | undefined
  readonly name: string
  readonly provider: 'smtp'
  /** The preset that filled in host, port and security. */
  readonly preset: string | null
  readonly environment: string | null
  readonly priority: number
  /** New destinations are sandboxed: what would go there is captured. */
  readonly mode: 'sandbox' | 'live'
  /** The From used when a REST send names none. */
  readonly from: string | null
  readonly host: string
  readonly port: number
  /** `tls`: from the first byte; `starttls`: required, never opportunistic; `none`: in clear. */
  readonly security: (typeof securities)[number]
  readonly tlsPolicy: (typeof tlsPolicies)[number]
  readonly username: string | null
  /** Sealed under `destination/<id>/password`. */
  readonly sealedPassword: string | null
  readonly oauth2?: DestinationOAuth2 | undefined
  readonly maxConnections: number
  /** Messages a minute; null is no limit. */
  readonly maxRatePerMin: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

export const destinations = defineRecord<Destination>({
  name: 'destination',
  schema: z.strictObject({
    id: z.string(),
    projectId: z.string(),
    shared: z.enum(sharings).optional(),
    name: z.string(),
    provider: z.literal('smtp'),
    preset: z.string().nullable(),
    environment: z.string().nullable(),
    priority: z.int(),
    mode: z.enum(['sandbox', 'live']),
    from: z.string().nullable(),
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
    maxConnections: z.int(),
    maxRatePerMin: z.int().nullable(),
    createdAt: z.int(),
    updatedAt: z.int(),
  }),
  isSetting: true,
  projectOf: ({ shared, projectId }) => (shared === undefined ? projectId : undefined),
})

/** The place its password is sealed for. */
export const passwordPlace = (destinationId: string): string => `destination/${destinationId}/password`

/** The place the secrets of its OAuth 2.0 grant are sealed for. */
export const oauth2Place = (destinationId: string): string => `destination/${destinationId}/oauth2`
