/** Inbound routes and their received mail on the wire. Spec "Inbound route", "Inbound routes". */
import * as z from 'zod'
import type { HasHealth } from '#core/health/resource-health.ts'
import type { InboundReading } from '#core/inbound-routes/inbound-mail.ts'
import type { RouteWithSecret } from '#core/inbound-routes/inbound-routes.ts'
import type { InboundMessage } from '#core/inbound-routes/inbound-message.ts'
import type { InboundRoute } from '#core/inbound-routes/route.ts'
import { shownUrl } from '#core/webhooks/endpoints/target-url.ts'
import { shownQuery } from '../feedback/webhook.ts'
import { authenticationShape, filesShape, headersShape, readingNotesShape } from '#core/inbound-routes/webhook-body.ts'
import { encoder } from '../fields/codec.ts'
import { healthCode, healthField } from '../insights/health.ts'
import { contentsOf, viewUrl } from '../fields/reading.ts'
import { hmacSecret, id } from '../fields/text.ts'
import { wireTime } from '../fields/time.ts'

const pattern = z
  .string()
  .min(1)
  .max(66)
  .meta({
    description:
      'Local part at the inbound domain: an exact name (`sales`), a prefix (`sales+*`), or all (`*`, for the operator). ' +
      'The most specific pattern matches.',
  })
const webhookUrl = z.string().min(1).max(2048).meta({ description: 'An https URL. Redirects are not followed.' })
const projectId = id.meta({ description: 'The project of the route. Defaults to the project of the key.' })

export const newInboundRoute = z.strictObject({
  local_part_pattern: pattern,
  webhook_url: webhookUrl,
  project_id: projectId.optional(),
})
export const inboundRouteChanges = z.strictObject({ webhook_url: webhookUrl, project_id: projectId }).partial()

const routeFields = {
  id: z.string(),
  project_id: z.string(),
  local_part_pattern: z.string(),
  address: z
    .string()
    .nullable()
    .meta({ description: 'The pattern with the inbound domain; null if the service has no inbound domain and receives no mail.' }),
  webhook_url: z.string().meta({ description: shownQuery }),
  created_at: wireTime,
  updated_at: wireTime,
}

const inboundRouteShape = z.object({ ...routeFields, ...healthField }).meta({ id: 'InboundRoute' })
const inboundRouteWithSecretShape = z
  .object({
    ...routeFields,
    hmac_secret: hmacSecret,
  })
  .meta({ id: 'MintedInboundRoute' })

const summaryFields = {
  id: z.string(),
  route_id: z.string(),
  project_id: z.string(),
  received_at: wireTime,
  envelope_from: z.string().meta({ description: 'Empty for reports and other automatic replies.' }),
  envelope_to: z.array(z.string()),
  remote_address: z.string(),
  helo: z.string(),
  tls: z.boolean(),
  size: z.int().meta({ description: 'Size of the mail as received, in octets.' }),
  status: z
    .enum(['received', 'processed'])
    .meta({ description: '`processed`: the mail was parsed, and the list of attempts contains its delivery to the webhook.' }),
  subject: z.string(),
  from: z.array(z.string()),
  unreadable: z.string().nullable().meta({ description: 'Why the mail could not be parsed; its raw source is still available.' }),
  authentication: authenticationShape.nullable(),
  webhook_attempt_id: z.string().nullable(),
}

const inboundMessageSummaryShape = z.object(summaryFields).meta({ id: 'InboundMessageSummary' })

const inboundMessageShape = z
  .object({
    ...summaryFields,
    raw_url: z.string(),
    view_url: viewUrl,
    headers: headersShape,
    text: z.string(),
    html: z.string().meta({ description: 'Sanitized: without scripts, forms and remote content.' }),
    attachments: filesShape,
    reading_notes: readingNotesShape,
  })
  .meta({ id: 'InboundMessage' })

interface RouteAddresses {
  /** Returns the address of a route, or null without an inbound domain. */
  readonly inboundRoutes: { addressOf(route: InboundRoute): string | null }
}

const code = {
  address: (route: InboundRoute, { inboundRoutes }: RouteAddresses) => inboundRoutes.addressOf(route),
  webhook_url: (route: InboundRoute) => shownUrl(route.webhookUrl),
}

export const inboundRoute = encoder(inboundRouteShape).from<InboundRoute & HasHealth, RouteAddresses>({ ...code, ...healthCode })
export const inboundRouteWithSecret = encoder(inboundRouteWithSecretShape)
  .from<InboundRoute & { readonly hmacSecret: string }, RouteAddresses>(code)
  .via(({ route, secret }: RouteWithSecret) => ({ ...route, hmacSecret: secret }))

const summaryOf = ({ prepared, ...message }: InboundMessage) => ({
  ...message,
  envelopeFrom: message.mailFrom,
  envelopeTo: message.recipients,
  tls: message.isEncrypted,
  size: message.content.size,
  status: prepared ? ('processed' as const) : ('received' as const),
  subject: prepared?.subject ?? '',
  from: prepared?.from ?? [],
  unreadable: prepared?.unreadable,
  authentication: prepared?.authentication,
  webhookAttemptId: prepared?.deliveryId,
})

/** `url` is the URL of the message. */
const messageOf = ({ message, read, url, viewUrl: view }: InboundReading & { readonly url: string; readonly viewUrl: string }) => ({
  ...summaryOf(message),
  rawUrl: `${url}/raw`,
  viewUrl: view,
  ...(read.ok && { from: read.message.from.map(({ address }) => address) }),
  ...contentsOf(read, url),
})

export const inboundMessageSummary = encoder(inboundMessageSummaryShape).from<ReturnType<typeof summaryOf>>().via(summaryOf)
export const inboundMessage = encoder(inboundMessageShape).from<ReturnType<typeof messageOf>>().via(messageOf)
