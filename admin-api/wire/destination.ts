/** Destinations and presets on the wire. Spec "Destination". Passwords go in and never come out. */
import * as z from 'zod'
import type { SmtpPreset } from '#config/presets.ts'
import { securities, tlsPolicies, type Destination } from '#core/routing/destination.ts'
import type { DestinationChanges, NewDestination } from '#core/routing/destinations.ts'
import type { EndpointRequest } from '#core/routing/endpoint.ts'
import { filledLine, id } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

export const destinationShape = z
  .object({
    id: z.string(),
    project_id: z.string(),
    name: z.string(),
    provider: z.literal('smtp'),
    preset: z.string().nullable(),
    environment: z.string().nullable(),
    priority: z.int(),
    mode: z.enum(['sandbox', 'live']),
    scope: z.literal('project'),
    is_org_default: z.literal(false),
    from: z.string().nullable(),
    credentials: z.object({
      host: z.string(),
      port: z.int(),
      security: z.enum(securities),
      tls_policy: z.enum(tlsPolicies),
      username: z.string().nullable(),
      has_password: z.boolean(),
    }),
    max_connections: z.int(),
    max_rate_per_min: z.int().nullable(),
    created_at: wireTime,
    updated_at: wireTime,
  })
  .meta({ id: 'Destination' })

const endpoint = {
  host: filledLine(255, 'Host name or IP address of the server; a preset can know it.').optional(),
  port: z.int().min(1).max(65_535).optional(),
  security: z.enum(securities).optional().meta({ description: 'tls from the first byte, starttls required, or none.' }),
  tls_policy: z.enum(tlsPolicies).optional().meta({ description: 'insecure takes any certificate; verify unless told.' }),
}
const username = filledLine(320)
const password = filledLine(1024)
const credentials = z.strictObject({ ...endpoint, username: username.optional(), password: password.optional() })
const credentialChanges = z
  .strictObject({ ...endpoint, username: username.nullable().optional(), password: password.nullable().optional() })
  .meta({
    description:
      'What is left out stays; null for username and password clears both. Another host, port, security or tls_policy needs the password again.',
  })
const preset = filledLine(64, 'Id of a preset that fills in host, port and security.')

const plain = {
  environment: filledLine(64).nullable().optional(),
  priority: z.int().min(0).max(1_000_000).optional(),
  from: filledLine(600, 'The From of sends that name none: one address, with or without a display name.').nullable().optional(),
  max_connections: z.int().min(1).max(100).optional(),
  max_rate_per_min: z.int().min(1).max(100_000).nullable().optional(),
}

export const newDestinationBody = z.strictObject({
  name: filledLine(100),
  provider: z.literal('smtp'),
  preset: preset.optional(),
  credentials,
  ...plain,
  project_id: id.optional(),
})

export const destinationChangesBody = z
  .strictObject({
    name: filledLine(100).optional(),
    preset: preset.optional(),
    credentials: credentialChanges.optional(),
    ...plain,
  })
  .refine((body) => body.preset === undefined || body.credentials !== undefined, {
    path: ['preset'],
    message: 'goes with credentials; give both',
  })

export const modeBody = z.strictObject({ mode: z.enum(['sandbox', 'live']) })

export const presetShape = z
  .object({
    id: z.string(),
    name: z.string(),
    host: z.string().meta({ description: 'With a placeholder in braces when you must give the host.' }),
    host_is_template: z.boolean(),
    port: z.int(),
    security: z.enum(securities),
  })
  .meta({ id: 'SmtpPreset' })

type PlainBody = Omit<z.output<typeof destinationChangesBody>, 'name' | 'preset' | 'credentials'>

const toPlain = (body: PlainBody): Omit<DestinationChanges, 'name' | 'endpoint'> => ({
  environment: body.environment,
  priority: body.priority,
  from: body.from,
  maxConnections: body.max_connections,
  maxRatePerMin: body.max_rate_per_min,
})

export const toDestinationChanges = (body: z.output<typeof destinationChangesBody>): DestinationChanges => ({
  ...toPlain(body),
  name: body.name,
  endpoint: body.credentials && toEndpoint(body.preset, body.credentials),
})

export const toNewDestination = (body: z.output<typeof newDestinationBody>): NewDestination => ({
  ...toPlain(body),
  name: body.name,
  endpoint: toEndpoint(body.preset, body.credentials),
  projectId: body.project_id,
})

function toEndpoint<Given extends z.output<typeof credentialChanges>>(
  name: string | undefined,
  { tls_policy, ...given }: Given,
): Omit<Given, 'tls_policy'> & Pick<EndpointRequest, 'tlsPolicy' | 'preset'> {
  return { ...given, tlsPolicy: tls_policy, preset: name }
}

export const toWireDestination = (destination: Destination): z.input<typeof destinationShape> => ({
  id: destination.id,
  project_id: destination.projectId,
  name: destination.name,
  provider: destination.provider,
  preset: destination.preset,
  environment: destination.environment,
  priority: destination.priority,
  mode: destination.mode,
  scope: 'project',
  is_org_default: false,
  from: destination.from,
  credentials: {
    host: destination.host,
    port: destination.port,
    security: destination.security,
    tls_policy: destination.tlsPolicy,
    username: destination.username,
    has_password: destination.sealedPassword !== null,
  },
  max_connections: destination.maxConnections,
  max_rate_per_min: destination.maxRatePerMin,
  created_at: toWireTime(destination.createdAt),
  updated_at: toWireTime(destination.updatedAt),
})

export const toWirePreset = ({ hostIsTemplate, ...preset }: SmtpPreset): z.input<typeof presetShape> => ({
  id: preset.id,
  name: preset.name,
  host: preset.host,
  host_is_template: hostIsTemplate,
  port: preset.port,
  security: preset.security,
})
