/** Checks destinations, webhooks and ingest sources of every organization, each in a separate check. */
import type { Core } from '../core.ts'
import type { HealthRegistry } from '../delivery/health/health-registry.ts'
import type { KnownProbe, Probes } from '../delivery/probe/probes.ts'
import { findings, type Finding } from '../findings/finding.ts'
import { ingestSources } from '../ingest-sources/ingest-source.ts'
import { readPoll, readSeen } from '../ingest-sources/source-status.ts'
import { sieve } from '../access/principal/lists.ts'
import type { Destination } from '../routing/destination.ts'
import type { Policy } from '../routing/policy/policy.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { livingOrganizations } from '../tenancy/organization-list.ts'
import { webhookDeliveries } from '../webhooks/delivery.ts'
import { findTarget, shownTarget, type DeliveryTarget, type TargetSource } from '../webhooks/sending/target.ts'
import { eachOf, type Check, type Found, type Look } from './check.ts'
import { breakerFinding, destinationFacts, parkedFinding, probeFinding, sourceFindings } from './delivery-findings.ts'

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
  breakerCheck(options),
  webhookCheck(options),
  sourceCheck(options),
]

interface Live {
  readonly organizationId: string
  readonly destination: Destination
  readonly policy: Policy
}

function destinationCheck(options: DeliveryCheckOptions): Check {
  const { database, policies } = options
  async function* live(): AsyncGenerator<Live> {
    for await (const { id: organizationId } of livingOrganizations(database)) {
      const policy = await policies.of(organizationId)
      for (const destination of policy.destinations.values()) if (destination.mode === 'live') yield { organizationId, destination, policy }
    }
  }
  return {
    name: 'destinations',
    everyMs: 5 * minute,
    place: 'every', // each daemon remembers its own probes
    async look(look) {
      const found: Found[] = []
      const probed = new Map<string, KnownProbe | undefined>()
      await eachOf(live(), probesAtATime, look.signal, async (one) => {
        const probe = await probeOf(options, one, look)
        probed.set(one.destination.id, probe)
        const failed = probe?.steps.find(({ ok }) => !ok)
        if (!failed) return
        const facts = destinationFacts(one.destination, one.policy, ['transient', 'misconfigured', 'breaker_open'])
        found.push({ ...probeFinding(facts, failed), organizationId: one.organizationId })
      })
      // an older probe says nothing, because another daemon may have made a newer one
      const coversFinding = (_: string, { subject, changedAt }: Finding): boolean =>
        !probed.has(subject) || (probed.get(subject)?.at ?? -Infinity) >= changedAt
      return { found, coversFinding }
    },
  }
}

/** Returns the latest probe, or makes one: if a caller waits, after a failure, and for findings that this daemon knows nothing of. */
async function probeOf(
  { database, probes }: DeliveryCheckOptions,
  { organizationId, destination }: Live,
  { isAsked, openAt }: Look,
): Promise<KnownProbe | undefined> {
  const before = probes.seen(destination)
  if (isAsked) return probes.lately(destination, minute)
  if (before?.ok === true || (!before && !openAt.has(organizationId))) return before
  const stored = await database.find(findings, { organizationId }, 'subject', ['destination.probe_failed', destination.id])
  const isOpen = stored?.record.state === 'open'
  if (!before) return isOpen ? probes.lately(destination, minute) : undefined
  return probes.lately(destination, isOpen ? againMs : minute)
}

/** Reports breakers of mail of the service, which each daemon has in its memory. The quick checks report those of organizations. */
const breakerCheck = ({ policies, health }: DeliveryCheckOptions): Check => ({
  name: 'breakers',
  everyMs: 5 * minute,
  place: 'every',
  isOwn: true,
  async look() {
    const policy = await policies.of(systemOrganizationId)
    const resting = health.resting().filter(({ organizationId }) => organizationId === systemOrganizationId)
    const found = resting.flatMap(({ destinationId, breaker }) => {
      const destination = policy.destinations.get(destinationId)
      return destination ? breakerFinding(destinationFacts(destination, policy, ['breaker_open']), breaker) : []
    })
    return { found: found.map((one) => ({ ...one, organizationId: systemOrganizationId })) }
  },
})

const webhookCheck = ({ database, clock, targets }: DeliveryCheckOptions): Check => ({
  name: 'webhooks',
  everyMs: 15 * minute,
  place: 'one',
  async look({ signal }) {
    const found: Found[] = []
    const cut = new Set<string>()
    await eachOf(livingOrganizations(database), 1, signal, async ({ id: organizationId }) => {
      const now = clock.now()
      const since = now - 7 * day
      const page = await database.list(
        webhookDeliveries,
        { organizationId },
        { index: 'listed', values: ['', 'parked'], limit: maxParked, forWork: true },
        sieve(({ updatedAt }) => updatedAt >= since, undefined, maxParked),
      )
      const isMore = page.nextCursor !== undefined
      if (isMore) cut.add(organizationId)
      for (const [endpointId, rows] of Map.groupBy(page.rows, ({ record }) => record.endpointId)) {
        const target = await findTarget(targets, database, { organizationId }, endpointId)
        if (!target) continue
        const isRecent = rows.some(({ record }) => record.updatedAt >= now - day)
        const facts = { endpointId, name: nameOf(target), count: rows.length, isMore, isRecent }
        const lastStatusCode = rows[0]?.record.lastStatusCode ?? null
        found.push({ ...parkedFinding({ ...facts, projectId: target.projectId, lastStatusCode }), organizationId })
      }
    })
    return { found, coversFinding: (organizationId) => !cut.has(organizationId) }
  },
})

/** Returns the name of the endpoint, or the host of other receivers; their URLs can be secret. */
function nameOf(target: DeliveryTarget): string {
  const shown = shownTarget(target)
  return 'endpoint' in target && target.endpoint ? target.endpoint.name : (URL.parse(shown)?.host ?? shown)
}

const sourceCheck = ({ database, clock }: DeliveryCheckOptions): Check => ({
  name: 'sources',
  everyMs: 15 * minute,
  place: 'one',
  async look({ signal }) {
    const found: Found[] = []
    await eachOf(livingOrganizations(database), 1, signal, async ({ id: organizationId }) => {
      for (const { record: source } of await database.all(ingestSources, { organizationId })) {
        const [seen, poll] = await Promise.all([
          readSeen(database, organizationId, source.id),
          readPoll(database, organizationId, source.id),
        ])
        found.push(...sourceFindings({ source, seen, poll }, clock.now()).map((one) => ({ ...one, organizationId })))
      }
    })
    return { found }
  },
})
