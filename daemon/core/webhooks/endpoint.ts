/** A webhook endpoint: a URL and the events sent to it. Spec "Outbound webhook endpoint and attempt". */
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
  /** Absent means the native format. */
  format: z.enum(webhookFormats).optional(),
  /** Key pair of a format that signs with one. `verifier` is for receivers: a public key as base64 of its DER, or a certificate in PEM. */
  signing: z.strictObject({ sealedKey: z.string(), verifier: z.string(), certificateId: z.string().optional() }).optional(),
  /** Custom header fields of every request: their names, and all fields as sealed JSON. */
  headers: z.strictObject({ names: z.array(z.string()), sealed: z.string() }).optional(),
  /** Time of the pause; absent unless the endpoint is paused. While paused, no attempt starts and deliveries stay pending. */
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
  upgrades: [(old) => old], // prevents the start of a release without formats
  lookups: { certificate: ({ signing }) => (signing?.certificateId === undefined ? [] : [[signing.certificateId]]) },
  projectOf: ({ projectId }) => projectId,
})

/** Endpoints of an organization by project. Empty while the webhook feature is off. */
export type WebhookEndpoints = ReadonlyMap<string, readonly WebhookEndpoint[]>

/** See `SecretBox.seal`. */
export const secretContext = (endpointId: string): string => `${webhookEndpoints.name}/${endpointId}/secret`
export const signingContext = (endpointId: string): string => `${webhookEndpoints.name}/${endpointId}/signing-key`
export const headersContext = (endpointId: string): string => `${webhookEndpoints.name}/${endpointId}/headers`
