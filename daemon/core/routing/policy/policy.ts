/** Settings of an organization that a send needs, cached until a setting changes. */
import type { Database } from '#store/database.ts'
import type { Identified, RecordKind, Stored } from '#store/record-kind.ts'
import { smtpCredentials, type SmtpCredential } from '../../access/smtp-credential.ts'
import { sendingDomains, type SendingDomain } from '../../domains/sending-domain.ts'
import { queueHolds, type QueueHold } from '../queue-hold.ts'
import { destinations, type Destination } from '../destination.ts'
import { failoverPolicies, Failovers } from '../failover-policy.ts'
import { orderRules } from '../match/match.ts'
import { routingRules, type RoutingRule } from '../rule.ts'
import { organizations, projects, type Organization, type Project } from '../../tenancy/organization.ts'
import { allOrganizations } from '../../tenancy/organization-list.ts'
import { isSwitchedOn } from '../../plan/features.ts'
import { webhookEndpoints, type WebhookEndpoints } from '../../webhooks/endpoint.ts'
import { systemOrganizationId, systemPolicy } from './system-policy.ts'

/** Settings of one organization, indexed for decisions. */
export interface Policy {
  readonly organization: Organization
  readonly projects: ReadonlyMap<string, Project>
  /** Ids of projects that are being deleted. The other fields exclude these projects and their records. */
  readonly deleted: ReadonlySet<string>
  readonly destinations: ReadonlyMap<string, Destination>
  /** Receives mail without a matching rule. Spec "Project rules" 6. */
  readonly orgDefault: Destination | undefined
  readonly credentials: ReadonlyMap<string, SmtpCredential>
  /** By domain. */
  readonly sendingDomains: ReadonlyMap<string, SendingDomain>
  /** By project, in the order of evaluation. */
  readonly rules: ReadonlyMap<string, readonly RoutingRule[]>
  readonly failovers: Failovers
  /** Standing holds of the queue. */
  readonly holds: readonly QueueHold[]
  /** Webhook endpoints; empty while the feature is off. */
  readonly webhooks: WebhookEndpoints
}

export class Policies {
  readonly #database: Database
  readonly #systemDestinationIds: readonly string[]
  readonly #kept = new Map<string, { generation: number; policy: Promise<Policy>; loaded?: Policy }>()

  /** `systemDestinationIds`: destinations of the first organization that send system mail, in order of use. */
  constructor(database: Database, systemDestinationIds: readonly string[] = []) {
    this.#database = database
    this.#systemDestinationIds = systemDestinationIds
  }

  /** Returns the current settings, including all changes committed by this process. */
  of(organizationId: string): Promise<Policy> {
    if (organizationId === systemOrganizationId) return this.#ofSystem()
    const generation = this.#database.generation(organizationId)
    const kept = this.#kept.get(organizationId)
    if (kept?.generation === generation) return kept.policy
    const policy = this.#load(organizationId)
    const entry: { generation: number; policy: Promise<Policy>; loaded?: Policy } = { generation, policy }
    this.#kept.set(organizationId, entry)
    policy.then(
      (loaded) => (entry.loaded = loaded),
      () => this.#kept.delete(organizationId),
    )
    return policy
  }

  /** Returns the cached settings, or undefined and starts loading them. For early checks that are repeated later. */
  cached(organizationId: string): Policy | undefined {
    void this.of(organizationId).catch(() => undefined)
    return this.#kept.get(organizationId)?.loaded
  }

  async #ofSystem(): Promise<Policy> {
    const ids = this.#systemDestinationIds
    if (ids.length === 0) return systemPolicy([])
    for await (const { id } of allOrganizations(this.#database)) {
      const all = (await this.of(id)).destinations
      return systemPolicy(ids.flatMap((one) => all.get(one) ?? []))
    }
    return systemPolicy([])
  }

  async #load(organizationId: string): Promise<Policy> {
    const reach = { organizationId }
    const organization = await this.#database.get(organizations, reach, organizationId)
    if (!organization) throw new Error(`organization ${organizationId} is missing`)
    // a deleted organization has no settings for decisions
    const all = <R extends Identified>(kind: RecordKind<R>): Promise<Stored<R>[]> =>
      organization.record.deletedAt === undefined ? this.#database.all(kind, reach) : Promise.resolve([])
    const [allProjects, allDestinations, allRules, allCredentials, allDomains, allFailovers, allHolds, allEndpoints] = await Promise.all([
      all(projects),
      all(destinations),
      all(routingRules),
      all(smtpCredentials),
      all(sendingDomains),
      all(failoverPolicies),
      all(queueHolds),
      isSwitchedOn(organization.record, 'webhooks') ? all(webhookEndpoints) : [],
    ])
    const deleted = new Set(allProjects.flatMap(({ record: { id, deletedAt } }) => (deletedAt === undefined ? [] : [id])))
    const living = <R extends Identified>(kind: RecordKind<R>, rows: readonly Stored<R>[]): R[] =>
      rows.flatMap(({ record }) => (deleted.has(kind.projectOf(record) ?? '') ? [] : [record]))
    const livingDestinations = living(destinations, allDestinations)
    return {
      organization: organization.record,
      projects: byId(living(projects, allProjects)),
      deleted,
      destinations: byId(livingDestinations),
      orgDefault: livingDestinations.find(({ shared }) => shared === 'org_default'),
      credentials: byId(living(smtpCredentials, allCredentials)),
      sendingDomains: new Map(allDomains.map(({ record }) => [record.domain, record])),
      rules: Map.groupBy(orderRules(living(routingRules, allRules)), (rule) => rule.projectId),
      failovers: new Failovers(living(failoverPolicies, allFailovers)),
      holds: living(queueHolds, allHolds),
      webhooks: Map.groupBy(living(webhookEndpoints, allEndpoints), ({ projectId }) => projectId),
    }
  }
}

const byId = <R extends Identified>(records: readonly R[]): Map<string, R> => new Map(records.map((record) => [record.id, record]))
