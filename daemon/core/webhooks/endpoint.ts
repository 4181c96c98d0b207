/** A webhook endpoint: who wants to hear of which events. Spec "Outbound webhook endpoint and attempt". */
import { defineRecord } from '#store/record-kind.ts'
import * as z from 'zod'
import type { SealedSecret } from '../access/secret-box.ts'

/** Spec "Events" 1. */
export const webhookEventTypes = ['delivered', 'bounced', 'complained', 'failed', 'auto_suppressed'] as const
export type WebhookEventType = (typeof webhookEventTypes)[number]

export interface WebhookEndpoint {
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly targetUrl: string
  /** Empty means every event. */
  readonly eventTypes: readonly WebhookEventType[]
  readonly sealedSecret: SealedSecret
  /** Since then nothing is attempted, and its deliveries wait; not there while it is not paused. */
  readonly pausedAt?: number | undefined
  readonly createdAt: number
  readonly updatedAt: number
}

export const webhookEndpoints = defineRecord<WebhookEndpoint>({
  name: 'webhook_endpoint',
  schema: z.strictObject({
    id: z.string(),
    projectId: z.string(),
    name: z.string(),
    targetUrl: z.string(),
    eventTypes: z.array(z.enum(webhookEventTypes)),
    sealedSecret: z.string(),
    pausedAt: z.int().optional(),
    createdAt: z.int(),
    updatedAt: z.int(),
  }),
  isSetting: true,
  isTracked: true,
  projectOf: ({ projectId }) => projectId,
})

/** Those of an organization that may hear of anything, by project. Empty while its flag is off. */
export type WebhookEndpoints = ReadonlyMap<string, readonly WebhookEndpoint[]>

/** See `SecretBox.seal`. */
export const secretPlace = (endpointId: string): string => `${webhookEndpoints.name}/${endpointId}/secret`
