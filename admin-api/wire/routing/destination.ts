/** Destinations and presets on the wire. Spec "Destination". Requests may contain passwords; responses never do. */
import * as z from 'zod'
import { presetKinds } from '#config/mail/presets.ts'
import { httpProviderIds, type HttpProvider } from '#config/mail/providers.ts'
import type { DestinationWarning } from '#core/delivery/probe/probes.ts'
import type { FieldProblem } from '#core/refusals.ts'
import { securities, tlsPolicies, type Destination, type SmtpDestination } from '#core/routing/destination.ts'
import type { DestinationChanges, DestinationView, ModeChange, NewDestination } from '#core/routing/destinations/destinations.ts'
import type { PresetChoice } from '#core/routing/destinations/preset-choices.ts'
import type { RouteWarning } from '#core/routing/rules/route-warnings.ts'
import { decoder, encoder, type Decoded } from '../fields/codec.ts'
import { anyCredentials, credentialsOf, credentialsShape, providerIds, toWireCredentials, unknownProvider } from './provider.ts'
import { environmentName, filledLine, id, nameLine } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'

const oauth2Shape = z.object({
  token_url: z.string(),
  client_id: z.string(),
  scope: z.string().nullable(),
  grant: z.enum(['client_credentials', 'refresh_token']),
})

const endpointShape = z.object({
  host: z.string(),
  port: z.int(),
  security: z.enum(securities),
  tls_policy: z.enum(tlsPolicies),
  username: z.string().nullable(),
  has_password: z.boolean(),
  oauth2: oauth2Shape.optional().meta({ description: 'Present if the destination signs in with access tokens instead of a password.' }),
})

const destinationShape = z
  .object({
    id: z.string(),
    project_id: z.string(),
    name: z.string(),
    provider: z.enum(providerIds),
    preset: z.string().nullable(),
    environment: z.string().nullable(),
    priority: z.int(),
    mode: z.enum(['sandbox', 'live']),
    scope: z.enum(['project', 'org']).meta({ description: 'org: every project of the organization can use it.' }),
    is_org_default: z.boolean().meta({ description: 'Receives sends that match no routing rule of their project.' }),
    movable: z.boolean().meta({
      description:
        'Whether it can move to another project: it is not organization-wide, and no routing rule, failover policy or SMTP credential refers to it.',
    }),
    from: z.string().nullable(),
    credentials: z.union([endpointShape, credentialsShape]),
    max_connections: z.int(),
    max_rate_per_min: z.int().nullable(),
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'Destination' })

/** Settings without effect, each with the next step. */
export const routeWarnings = z.array(z.object({ code: z.string(), step: z.string(), message: z.string() }))

/** The response to creating or changing a destination. */
const changedDestinationShape = destinationShape
  .extend({
    warnings: routeWarnings.meta({
      description:
        'Problems that prevent delivery: failures of the connection, TLS or sign-in in a probe with these settings, or a missing ' +
        'route (`not_routed`) for a live destination. Each names the next step. Empty if there are no problems.',
    }),
  })
  .meta({ id: 'ChangedDestination' })

const promotedDestinationShape = destinationShape
  .extend({
    already_live: z.boolean(),
    route: z
      .object({
        leads_here: z.boolean(),
        by: z.enum(['rule', 'project', 'org_default', 'none']).meta({
          description:
            'What selects the destination: a routing rule, the environment of the project, or the default sender of the organization.',
        }),
        rule_id: z.string().nullable(),
      })
      .meta({ description: 'How messages without destination_id reach the destination.' }),
    warnings: routeWarnings.meta({
      description:
        'Problems that prevent mail from being sent, with the next step: `not_routed` if no route leads to the destination. ' +
        'Empty if there are no problems.',
    }),
  })
  .meta({ id: 'PromotedDestination' })

const endpoint = {
  host: filledLine(255, 'Host name or IP address of the server. Required unless a preset provides it.').optional(),
  port: z.int().min(1).max(65_535).optional(),
  security: z
    .enum(securities)
    .optional()
    .meta({ description: 'tls: TLS from the first byte. starttls: STARTTLS required. none: unencrypted.' }),
  tls_policy: z.enum(tlsPolicies).optional().meta({ description: 'insecure accepts any certificate. Defaults to verify.' }),
}
const username = filledLine(320)
const password = filledLine(1024)
const oauth2 = z
  .strictObject({
    token_url: filledLine(1024, 'https URL of the token endpoint. Has defaults for Microsoft 365 and Google.').optional(),
    client_id: filledLine(512),
    client_secret: filledLine(1024, 'Required without refresh_token.').optional(),
    refresh_token: filledLine(8192, 'Refresh token of the mailbox. Google requires it.').optional(),
    scope: filledLine(1024, 'Has a default for Microsoft 365.').optional(),
    tenant: filledLine(253, 'Microsoft only: id of the tenant, or one of its domains.').optional(),
  })
  .meta({
    description: 'Alternative to a password: signs in by AUTH XOAUTH2 with access tokens, obtained by refresh token or client credentials.',
  })
const credentials = z.strictObject({
  ...endpoint,
  username: username.optional(),
  password: password.optional(),
  oauth2: oauth2.optional(),
})
const endpointChanges = {
  ...endpoint,
  username: username.nullable().optional(),
  password: password.nullable().optional(),
  oauth2: oauth2.nullable().optional(),
}
const readEndpointChanges = decoder(z.strictObject(endpointChanges))
const httpChanges = z.object(anyCredentials)

/** The stored destination decides which set of fields applies. */
const credentialChanges = z
  .strictObject({ ...endpointChanges, ...anyCredentials })
  .meta({
    description:
      'The fields of the provider; omitted fields keep their values. For smtp, null for username and password clears both, and a ' +
      'change of host, port, security or tls_policy requires the password or oauth2 again. For other providers, a change of ' +
      'base_url requires the secrets again.',
  })
  .transform((given) => ({
    endpoint: readEndpointChanges(given),
    credentials: httpChanges.parse(given),
  }))
const preset = filledLine(64, 'Id of a preset that fills in host, port and security.')

const plain = {
  environment: environmentName.nullable().optional().meta({
    description:
      'A free-form name, such as production. Sends, SMTP credentials, rules and projects can refer to it instead of a destination.',
  }),
  priority: z.int().min(0).max(1_000_000).optional(),
  from: filledLine(600, 'The default From of sends: one address, with or without a display name.').nullable().optional(),
  max_connections: z.int().min(1).max(100).optional(),
  max_rate_per_min: z.int().min(1).max(100_000).nullable().optional(),
}

const place = {
  project_id: id
    .optional()
    .meta({ description: 'Moves the destination to another project. Possible if no routing rule and no SMTP credential refers to it.' }),
  scope: z
    .enum(['project', 'org'])
    .optional()
    .meta({
      description:
        'org requires the plan pro or enterprise. project returns the destination to its project; possible if no other project ' +
        'refers to it.',
    }),
  is_org_default: z
    .boolean()
    .optional()
    .meta({ description: 'Only one organization-wide destination can be the default; true replaces the previous default.' }),
}

const anyNew = { name: nameLine(100), ...plain, project_id: id.optional() }

const newHttpBody = (provider: HttpProvider) =>
  z.strictObject({ ...anyNew, provider: z.literal(provider), credentials: credentialsOf(provider) })

export const newDestination = z.discriminatedUnion(
  'provider',
  [z.strictObject({ ...anyNew, provider: z.literal('smtp'), preset: preset.optional(), credentials }), ...httpProviderIds.map(newHttpBody)],
  { error: ({ code, input }) => (code === 'invalid_union' ? unknownProvider(Object(input).provider) : undefined) },
)

/** Required fields that are missing. If the provider is unknown, the schema does not report them. */
export const missingBesideProvider = (body: Readonly<Record<string, unknown>>): readonly FieldProblem[] =>
  ['name', 'credentials'].filter((path) => (body[path] ?? null) === null).map((path) => ({ path, message: 'is required' }))

export const destinationChanges = z
  .strictObject({
    name: nameLine(100).optional(),
    preset: preset.optional(),
    credentials: credentialChanges.optional(),
    ...plain,
    ...place,
  })
  .refine((body) => body.preset === undefined || body.credentials !== undefined, {
    path: ['preset'],
    message: 'requires credentials; give both',
  })

export const modeInput = z.strictObject({ mode: z.enum(['sandbox', 'live']) })

export const promotionInput = z.strictObject({
  default_route: z
    .boolean()
    .default(false)
    .meta({
      description:
        'Routes all mail of the project there: creates the routing rule `{"match": {"any": true}, "priority": 1000}` in the ' +
        'same write, unless it is already so. Refused with `conflict` if all mail is routed elsewhere.',
    }),
  project_id: id
    .optional()
    .meta({ description: 'The project of the route. Only for organization-wide destinations; defaults to the project of the key.' }),
})

const presetShape = z
  .object({
    id: z.string(),
    name: z.string(),
    host: z.string().meta({ description: 'Contains a placeholder in braces if the host depends on your account.' }),
    host_is_template: z.boolean(),
    port: z.int(),
    security: z.enum(securities),
    kind: z.enum(presetKinds),
    country: z.string().nullable(),
    username: z.string().meta({ description: 'Describes the required user name.' }),
    fixed_username: z.string().nullable().meta({ description: 'Default user name, identical for all customers.' }),
    auth: z.array(z.string()).meta({ description: 'Authentication mechanisms of the provider. XOAUTH2 uses credentials.oauth2.' }),
    oauth2: z
      .object({ token_url: z.string(), grants: z.array(z.enum(['client_credentials', 'refresh_token'])) })
      .nullable()
      .meta({ description: 'Default token endpoint. A placeholder in braces is replaced by the tenant.' }),
    keeps_envelope_from: z.boolean().meta({
      description: 'False if the server replaces the envelope sender, or requires the login as the envelope sender. VERP is then not used.',
    }),
    notes: z.array(z.string()),
    suggested: z.boolean().meta({ description: 'True if the MX records of the requested domain lead to this provider.' }),
    needed_setting: z
      .string()
      .nullable()
      .meta({ description: 'The setting without which this service refuses the host; null if it is allowed.' }),
  })
  .meta({ id: 'SmtpPreset' })

export const presetQuery = z.strictObject({
  domain: filledLine(
    254,
    'Suggests the provider that receives the mail of this domain, by one MX lookup of at most two seconds.',
  ).optional(),
})

const settingsOf = decoder(z.strictObject(anyNew))
const endpointOf = decoder(credentials)

/** The codec leaves unions unchanged, and credentials of providers keep the providers' names. */
export const toNewDestination = (body: z.output<typeof newDestination>): NewDestination => ({
  ...settingsOf(body),
  connection:
    body.provider === 'smtp'
      ? { provider: 'smtp', endpoint: { ...endpointOf(body.credentials), preset: body.preset } }
      : { provider: body.provider, credentials: body.credentials },
})

export function toDestinationChanges({
  preset: presetId,
  credentials: given,
  projectId,
  scope,
  isOrgDefault,
  ...settings
}: Decoded<typeof destinationChanges>): DestinationChanges {
  const isPlaced = projectId !== undefined || scope !== undefined || isOrgDefault !== undefined
  return {
    ...settings,
    connection: given && { ...given, endpoint: { ...given.endpoint, preset: presetId } },
    ownership: isPlaced ? { projectId, scope, isOrgDefault } : undefined,
  }
}

const endpointEncoder = encoder(endpointShape).from<SmtpDestination>({ has_password: ({ sealedPassword }) => sealedPassword !== null })

const destinationCode = {
  preset: (one: Destination) => (one.provider === 'smtp' ? one.preset : null),
  scope: ({ shared }: Destination) => (shared === undefined ? 'project' : 'org'),
  is_org_default: ({ shared }: Destination) => shared === 'org_default',
  movable: ({ isMovable }: DestinationView) => isMovable,
  credentials: (one: Destination) => (one.provider === 'smtp' ? endpointEncoder.encode(one) : toWireCredentials(one)),
} as const
export const destination = encoder(destinationShape).from<DestinationView>(destinationCode)
export const changedDestination = encoder(changedDestinationShape).from<
  DestinationView & { readonly warnings: readonly (DestinationWarning | RouteWarning)[] }
>(destinationCode)
export const promotedDestination = encoder(promotedDestinationShape).from<DestinationView & Omit<ModeChange, 'destination'>>(
  destinationCode,
)

export const smtpPreset = encoder(presetShape).from<PresetChoice>({ suggested: ({ isSuggested }) => isSuggested })
