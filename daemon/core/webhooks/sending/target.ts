/** Targets of deliveries: endpoints, inbound routes, forms and others with an address and a secret. */
import type { Feature } from '#config/plans/features.ts'
import type { Database, Visibility } from '#store/database.ts'
import { secretContext, webhookEndpoints } from '../endpoint.ts'
import { shownUrl } from '../endpoints/target-url.ts'
import type { RequestTarget } from './request.ts'

export type DeliveryTarget = RequestTarget & {
  /** Empty for a target of the whole organization. */
  readonly projectId: string
  /** Delays after failed attempts; defaults to the schedule of event webhooks. */
  readonly retryDelaysMs?: readonly number[]
  /** No attempt starts while true; due deliveries stay pending. */
  readonly isPaused?: boolean
  /** Nothing is sent while this feature is off. */
  readonly feature: Feature
  /** Error of an attempt while the feature is off: one sentence. */
  readonly whileOff: string
}

/** Finds a target within the reach; undefined if no target has the id. */
export type TargetSource = (database: Database, reach: Visibility, id: string) => Promise<DeliveryTarget | undefined>

/** Returns the URL of a target for displayed texts. */
export const shownTarget = (target: RequestTarget): string => ('write' in target ? target.shownUrl : shownUrl(target.targetUrl))

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
