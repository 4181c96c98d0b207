/** Failover policies: fallback destinations of a primary, and the conditions for using them. Spec "Failover policy". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** Why a message leaves a destination for the next one. */
export const failoverCauses = ['transient', 'rate_limited', 'breaker_open', 'misconfigured', 'latency'] as const
export type FailoverCause = (typeof failoverCauses)[number]

export const maxFallbacks = 5

const schema = z.strictObject({
  id: z.string(),
  projectId: z.string(),
  /** The destination that routing chose. A project has at most one policy for it. */
  primaryId: z.string(),
  /** In order of use. The fallbacks' own policies are ignored. */
  fallbackIds: z.array(z.string()),
  on: z.array(z.enum(failoverCauses)),
  /** For the cause `latency`: limit of the recent 95th percentile. Mail skips a slower destination. */
  latencyMs: z.int().nullable(),
  createdAt: z.int(),
  updatedAt: z.int(),
})

export type FailoverPolicy = Immutable<z.infer<typeof schema>>

export const failoverPolicies = defineRecord<FailoverPolicy>({
  name: 'failover_policy',
  schema,
  isSetting: true,
  isTracked: true,
  unique: { primary: (policy) => [[policy.projectId, policy.primaryId]] },
  projectOf: (policy) => policy.projectId,
})

/** Indexed policies of an organization. */
export class Failovers {
  /** Oldest first. */
  readonly all: readonly FailoverPolicy[]
  readonly #byPrimary: ReadonlyMap<string, FailoverPolicy>
  readonly #passed: ReadonlySet<string>

  constructor(policies: readonly FailoverPolicy[]) {
    this.all = policies.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    this.#byPrimary = new Map(policies.map((policy) => [keyOf(policy.projectId, policy.primaryId), policy]))
    const watching = policies.filter(({ on }) => on.includes('breaker_open') || on.includes('rate_limited'))
    this.#passed = new Set(watching.flatMap(({ primaryId, fallbackIds }) => [primaryId, ...fallbackIds]))
  }

  of(projectId: string, primaryId: string): FailoverPolicy | undefined {
    return this.#byPrimary.get(keyOf(projectId, primaryId))
  }

  /**
   * Returns true if some message may skip this destination while its breaker is open or its provider throttles. Its queue then must not
   * pause as a whole.
   */
  isSkipped(destinationId: string): boolean {
    return this.#passed.has(destinationId)
  }

  /** Returns the policies that name a destination. */
  naming(destinationId: string): FailoverPolicy[] {
    return this.all.filter(({ primaryId, fallbackIds }) => primaryId === destinationId || fallbackIds.includes(destinationId))
  }
}

const keyOf = (projectId: string, primaryId: string): string => `${projectId} ${primaryId}`
