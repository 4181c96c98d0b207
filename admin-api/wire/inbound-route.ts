/** Inbound routes and the mail that came by them on the wire. Spec "Inbound route", "Inbound routes". */
import * as z from 'zod'
import type { InboundReading } from '#core/inbound-routes/inbound-mail.ts'
import type { MintedRoute } from '#core/inbound-routes/inbound-routes.ts'
import type { InboundMessage } from '#core/inbound-routes/message.ts'
import type { InboundRoute } from '#core/inbound-routes/route.ts'
import { authenticationShape, filesShape, headersShape } from '#core/inbound-routes/webhook-body.ts'
import { id } from './text.ts'
import { toWireTime, wireTime } from './time.ts'

const pattern = z.string().min(1).max(66).meta({
  description:
    'Local part at the inbound domain: exactly (`sales`), all that begin so (`sales+*`), or every one (`*`, for the operator). Case does not matter; the most specific pattern decides.',
})
const webhookUrl = z.string().min(1).max(2048).meta({ description: 'Address that begins with https://. Redirects are not followed.' })
const projectId = id.meta({ description: 'Whose route it is; the project of the key unless told.' })

export const newInboundRouteBody = z.strictObject({
  local_part_pattern: pattern,
  webhook_url: webhookUrl,
  project_id: projectId.optional(),
})
export const inboundRouteChangesBody = z.strictObject({ webhook_url: webhookUrl, project_id: projectId }).partial()

const routeFields = {
  id: z.string(),
  project_id: z.string(),
  local_part_pattern: z.string(),
  address: z
    .string()
    .nullable()
    .meta({ description: 'The pattern with the inbound domain; null when the service has none, and then nothing comes in.' }),
  webhook_url: z.string(),
  created_at: wireTime,
  updated_at: wireTime,
}

export const inboundRouteShape = z.object(routeFields).meta({ id: 'InboundRoute' })
export const mintedInboundRouteShape = z
  .object({
    ...routeFields,
    hmac_secret: z.string().meta({
      description:
        'Shown this once. `X-Service-Signature` is keyed by all of it as text; for Standard Webhooks it is a secret in their form, `whsec_` and base64.',
    }),
  })
  .meta({ id: 'MintedInboundRoute' })

const summaryFields = {
  id: z.string(),
  route_id: z.string(),
  project_id: z.string(),
  received_at: wireTime,
  envelope_from: z.string().meta({ description: 'Empty for reports and other automatic answers.' }),
  envelope_to: z.array(z.string()),
  remote_address: z.string(),
  helo: z.string(),
  tls: z.boolean(),
  size: z.int().meta({ description: 'In octets, as it came.' }),
  status: z
    .enum(['received', 'processed'])
    .meta({ description: '`processed`: it was read, and its delivery to the webhook stands in the list of attempts.' }),
  subject: z.string(),
  from: z.array(z.string()),
  unreadable: z.string().nullable().meta({ description: 'Why it could not be read; the raw message is there.' }),
  authentication: authenticationShape.nullable(),
  webhook_attempt_id: z.string().nullable(),
}

export const inboundMessageSummaryShape = z.object(summaryFields).meta({ id: 'InboundMessageSummary' })

export const inboundMessageShape = z
  .object({
    ...summaryFields,
    headers: headersShape,
    text: z.string(),
    html: z.string().meta({ description: 'Sanitized: no script, no form, no remote content.' }),
    attachments: filesShape,
    raw_url: z.string(),
  })
  .meta({ id: 'InboundMessage' })

export const toWireInboundRoute = (route: InboundRoute, address: string | null): z.input<typeof inboundRouteShape> => ({
  id: route.id,
  project_id: route.projectId,
  local_part_pattern: route.localPartPattern,
  address,
  webhook_url: route.webhookUrl,
  created_at: toWireTime(route.createdAt),
  updated_at: toWireTime(route.updatedAt),
})

export const toWireMintedInboundRoute = (
  { route, secret }: MintedRoute,
  address: string | null,
): z.input<typeof mintedInboundRouteShape> => ({ ...toWireInboundRoute(route, address), hmac_secret: secret })

export function toWireInboundSummary(message: InboundMessage): z.input<typeof inboundMessageSummaryShape> {
  const { prepared } = message
  return {
    id: message.id,
    route_id: message.routeId,
    project_id: message.projectId,
    received_at: toWireTime(message.receivedAt),
    envelope_from: message.mailFrom,
    envelope_to: [...message.recipients],
    remote_address: message.remoteAddress,
    helo: message.helo,
    tls: message.isEncrypted,
    size: message.content.size,
    status: prepared === null ? 'received' : 'processed',
    subject: prepared?.subject ?? '',
    from: [...(prepared?.from ?? [])],
    unreadable: prepared?.unreadable ?? null,
    authentication: prepared && { ...prepared.authentication, dkim: [...prepared.authentication.dkim] },
    webhook_attempt_id: prepared?.deliveryId ?? null,
  }
}

/** `url` is the address of the message itself. */
export function toWireInboundMessage({ message, read }: InboundReading, url: string): z.input<typeof inboundMessageShape> {
  const common = { ...toWireInboundSummary(message), raw_url: `${url}/raw` }
  if (!read.ok) return { ...common, unreadable: read.unreadable, headers: [], text: '', html: '', attachments: [] }
  const { subject, from, headers, text, html, attachments } = read.message
  return {
    ...common,
    subject,
    from: from.map(({ address }) => address),
    headers: headers.map(({ name, value }) => ({ name, value })),
    text,
    html,
    attachments: attachments.map(({ filename, contentType, size, contentId, inline }, index) => {
      return { filename, content_type: contentType, size, content_id: contentId ?? null, inline, url: `${url}/attachments/${index}` }
    }),
  }
}
