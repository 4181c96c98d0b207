/** Targets of deliveries: endpoints, inbound routes, forms and others with an address and a secret. */
import type { Feature } from '#config/plans/features.ts'
import type { Database, Visibility } from '#store/database.ts'
import type { SealedSecret } from '../../access/secret-box.ts'
import { secretContext, webhookEndpoints, type WebhookEndpoint } from '../endpoint.ts'

export interface DeliveryTarget {
  readonly projectId: string
  /** The stored URL; see `openedUrl`. */
  readonly targetUrl: string
  readonly sealedSecret: SealedSecret
  /** See `SecretBox.seal`. */
  readonly secretContext: string
  /** The endpoint of an event webhook: format, keys and header fields. */
  readonly endpoint?: WebhookEndpoint
  /** No attempt starts while true; due deliveries stay pending. */
  readonly isPaused?: boolean
  /** Nothing is sent while this feature is off. */
  readonly feature: Feature
  /** Error of an attempt while the feature is off: one sentence. */
  readonly whileOff: string
}

/** Finds a target within the reach; undefined if no target has the id. */
export type TargetSource = (database: Database, reach: Visibility, id: string) => Promise<DeliveryTarget | undefined>

const whileOff = 'Event webhooks are turned off for this organization.'

const endpointTarget: TargetSource = async (database, reach, id) => {
  const stored = await database.get(webhookEndpoints, reach, id)
  if (!stored) return undefined
  return {
    ...stored.record,
    secretContext: secretContext(id),
    endpoint: stored.record,
    isPaused: stored.record.pausedAt !== undefined,
    feature: 'webhooks',
    whileOff,
  }
}

/** Finds the target in the first source that has it. */
export async function findTarget(
  sources: readonly TargetSource[],
  database: Database,
  reach: Visibility,
  id: string,
): Promise<DeliveryTarget | undefined> {
  for (const source of [endpointTarget, ...sources]) {
    const target = await source(database, reach, id)
    if (target) return target
  }
  return undefined
}
