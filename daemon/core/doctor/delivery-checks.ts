/** Checks destinations, webhooks and ingest sources of every organization, each in a separate check. */
import type { Core } from '../core.ts'
import type { HealthRegistry } from '../delivery/health/health-registry.ts'
import { adviceFor } from '../delivery/probe/probe-advice.ts'
import type { Probes } from '../delivery/probe/probes.ts'
import { ingestSources } from '../ingest-sources/ingest-source.ts'
import { readPoll, readSeen } from '../ingest-sources/source-status.ts'
import { sieve } from '../access/principal/lists.ts'
import type { Destination } from '../routing/destination.ts'
import type { Organization } from '../tenancy/organization.ts'
import { allOrganizations } from '../tenancy/organization-list.ts'
import { webhookDeliveries } from '../webhooks/delivery.ts'
import { findTarget, shownTarget, type TargetSource } from '../webhooks/sending/target.ts'
import { eachOf, type Check } from './check.ts'
import {
  breakerFindings,
  parkedFindings,
  probeFindings,
  sourceFindings,
  type FailedProbe,
  type ParkedFacts,
  type SourceFacts,
} from './delivery-findings.ts'

export interface DeliveryCheckOptions extends Core {
  readonly probes: Pick<Probes, 'lately' | 'seen'>
  readonly health: Pick<HealthRegistry, 'resting'>
  /** Webhook targets of higher layers; targets of webhook endpoints are built in. */
  readonly targets: readonly TargetSource[]
}

const minute = 60_000
const day = 24 * 60 * minute
/** Concurrent probes. A requested check probes every destination without a recent probe; the background repeats only failed probes. */
const probesAtATime = 4
const againMs = 30 * minute
/** Maximum number of parked deliveries of an organization that the check reads. */
const maxParked = 500

export const deliveryChecks = (options: DeliveryCheckOptions): readonly Check[] => [
  destinationCheck(options),
  webhookCheck(options),
  sourceCheck(options),
]

async function* alive({ database }: Pick<Core, 'database'>): AsyncGenerator<Organization> {
  for await (const organization of allOrganizations(database)) if (organization.deletedAt === undefined) yield organization
}

function destinationCheck(options: DeliveryCheckOptions): Check {
  const { policies, probes, health, clock } = options
  type Live = { readonly destination: Destination; readonly organization: Organization }
  async function* live(): AsyncGenerator<Live> {
    for await (const organization of alive(options))
      for (const destination of (await policies.of(organization.id)).destinations.values())
        if (destination.mode === 'live') yield { destination, organization }
  }
  return {
    name: 'destinations',
    everyMs: 5 * minute,
    async find(signal, isAsked) {
      const failing: FailedProbe[] = []
      await eachOf(live(), probesAtATime, signal, async ({ destination, organization }) => {
        const { id, name } = destination
        const before = probes.seen(destination)
        const isOwed = isAsked || (before !== undefined && !before.ok)
        const probe = isOwed ? await probes.lately(destination, isAsked ? minute : againMs) : before
        const failed = probe?.steps.find(({ ok }) => !ok)
        if (failed) failing.push({ id, name, organizationName: organization.name, problem: failed.detail, advice: adviceFor(failed) })
      })
      const resting = await Promise.all(
        health.resting().map(async ({ destinationId, organizationId, breaker }) => {
          const { organization, destinations } = await policies.of(organizationId)
          return { ...breaker, id: destinationId, name: destinations.get(destinationId)?.name, organizationName: organization.name }
        }),
      )
      const present = resting.flatMap(({ name, ...one }) => (name === undefined ? [] : [{ ...one, name }]))
      return [...probeFindings(failing), ...breakerFindings(present, clock.now())]
    },
  }
}

function webhookCheck(options: DeliveryCheckOptions): Check {
  const { database, clock, targets } = options
  return {
    name: 'webhooks',
    everyMs: 15 * minute,
    async find(signal) {
      const parked: ParkedFacts[] = []
      await eachOf(alive(options), 1, signal, async ({ id: organizationId, name }) => {
        const since = clock.now() - day
        const page = await database.list(
          webhookDeliveries,
          { organizationId },
          { index: 'listed', values: ['', 'parked'], limit: maxParked, forWork: true },
          sieve(({ updatedAt }) => updatedAt >= since, undefined, maxParked),
        )
        const byEndpoint = Map.groupBy(page.rows, ({ record }) => record.endpointId)
        for (const [endpointId, rows] of byEndpoint) {
          const target = await findTarget(targets, database, { organizationId }, endpointId)
          const lastError = rows[0]?.record.lastError ?? null
          const facts = { endpointId, organizationName: name, count: rows.length, isMore: page.nextCursor !== undefined, lastError }
          if (target) parked.push({ ...facts, targetUrl: shownTarget(target) })
        }
      })
      return parkedFindings(parked)
    },
  }
}

function sourceCheck(options: DeliveryCheckOptions): Check {
  const { database, clock } = options
  return {
    name: 'sources',
    everyMs: 15 * minute,
    async find(signal) {
      const sources: SourceFacts[] = []
      await eachOf(alive(options), 1, signal, async ({ id: organizationId, name }) => {
        for (const { record: source } of await database.all(ingestSources, { organizationId })) {
          const [seen, poll] = await Promise.all([
            readSeen(database, organizationId, source.id),
            readPoll(database, organizationId, source.id),
          ])
          sources.push({ source, organizationName: name, seen, poll })
        }
      })
      return sourceFindings(sources, clock.now())
    },
  }
}
