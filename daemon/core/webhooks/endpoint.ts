/** A webhook endpoint: who subscribes to which events. Spec "Outbound webhook endpoint and attempt". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { webhookFormats } from './formats/format-names.ts'

/** Spec "Events" 1. */
export const webhookEventTypes = ['delivered', 'bounced', 'complained', 'failed', 'auto_suppressed'] as const
export type WebhookEventType = (typeof webhookEventTypes)[number]

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  name: z.string(),
  targetUrl: z.string(),
  /** Empty means every event. */
  eventTypes: z.array(z.enum(webhookEventTypes)),
  sealedSecret: z.string(),
  /** Absent means native. */
  format: z.enum(webhookFormats).optional(),
  /** What a format with a key pair signs with, and what receivers verify with: a key in the base64 of its DER, or a certificate in PEM. */
  signing: z.strictObject({ sealedKey: z.string(), verifier: z.string(), certificateId: z.string().optional() }).optional(),
  /** Header fields of every request: their names, and all of them as JSON. */
  headers: z.strictObject({ names: z.array(z.string()), sealed: z.string() }).optional(),
  /** Since then nothing is attempted, and its deliveries wait; not there while it is not paused. */
  pausedAt: z.int().optional(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type WebhookEndpoint = Immutable<z.infer<typeof schema>>

export const webhookEndpoints = defineRecord<WebhookEndpoint>({
  name: 'webhook_endpoint',
  schema,
  isSetting: true,
  isTracked: true,
  upgrades: [(old) => old], // a release that knows no formats does not start on these
  lookups: { certificate: ({ signing }) => (signing?.certificateId === undefined ? [] : [[signing.certificateId]]) },
  projectOf: ({ projectId }) => projectId,
})

/** Those of an organization that may get any event, by project. Empty while its flag is off. */
export type WebhookEndpoints = ReadonlyMap<string, readonly WebhookEndpoint[]>

/** See `SecretBox.seal`. */
export const secretContext = (endpointId: string): string => `${webhookEndpoints.name}/${endpointId}/secret`
export const signingContext = (endpointId: string): string => `${webhookEndpoints.name}/${endpointId}/signing-key`
export const headersContext = (endpointId: string): string => `${webhookEndpoints.name}/${endpointId}/headers`
