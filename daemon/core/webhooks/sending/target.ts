/** Where deliveries go: an endpoint, or something of a noun above that has an address and a secret too. */
import type { Feature } from '#config/plans/features.ts'
import type { Database, Visibility } from '#store/database.ts'
import type { SealedSecret } from '../../access/secret-box.ts'
import { secretContext, webhookEndpoints, type WebhookEndpoint } from '../endpoint.ts'

export interface DeliveryTarget {
  readonly projectId: string
  /** As it is kept; see `openedUrl`. */
  readonly targetUrl: string
  readonly sealedSecret: SealedSecret
  /** See `SecretBox.seal`. */
  readonly secretContext: string
  /** Of event webhooks: its format, keys and header fields. */
  readonly endpoint?: WebhookEndpoint
  /** Nothing is attempted now; what is due waits until that changes. */
  readonly isPaused?: boolean
  /** While its flag is off, nothing is sent. */
  readonly feature: Feature
  /** What is noted then: one sentence. */
  readonly whileOff: string
}

/** Finds a target that can be reached; undefined when there is none of this id. */
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

/** The target in whichever noun has it. */
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
