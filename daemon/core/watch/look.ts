/** One look at an organization: reads counts and settings of some projects, evaluates the conditions, and settles their findings. */
import { countWaiting } from '#store/queue.ts'
import type { Core } from '../core.ts'
import { hasDomain } from '../domains/check-records.ts'
import type { HealthRegistry } from '../delivery/health/health-registry.ts'
import { findings, nameOf, type Finding } from '../findings/finding.ts'
import type { Settle } from '../findings/settle.ts'
import { formNotifications } from '../forms/notifications/notification.ts'
import { recipientNames } from '../insights/count.ts'
import { rolledTo, type RolledTo } from '../insights/rows.ts'
import type { Destination } from '../routing/destination.ts'
import { hasDefaultRoute } from '../routing/match/route-to.ts'
import type { Policy } from '../routing/policy/policy.ts'
import { systemOrganizationId } from '../routing/policy/system-policy.ts'
import { organizations, type Project } from '../tenancy/organization.ts'
import { awaitingByProject } from '../trace/approval/asked.ts'
import { transact } from '../writes/transact.ts'
import { sorted, type Condition } from './condition.ts'
import { approvalConditions, attackConditions, organizationConditions } from './conditions/people.ts'
import { breakerConditions, withWaiting } from './conditions/breakers.ts'
import { loginConditions } from './conditions/logins.ts'
import { mailConditions, withDomains, type ProjectFigures } from './conditions/mail.ts'
import { queueConditions } from './conditions/queue.ts'
import { quotaConditions } from './conditions/quota.ts'
import { receiverConditions, withUndelivered } from './conditions/receivers.ts'
import { destinationConditions, nothingUnrouted, routeConditions, unroutedOf } from './conditions/routes.ts'
import { scanConditions } from './conditions/scans.ts'
import { senderConditions } from './conditions/senders.ts'
import { readDeferred } from './reading/domains.ts'
import { readOverdueMonth } from './reading/invoices.ts'
import { countLimits, readQueue } from './reading/queue.ts'
import { readQuota } from './reading/quota.ts'
import { readReceivers, readUndelivered } from './reading/receivers.ts'
import { readScans, type WaitingScans } from './reading/scans.ts'
import { nextDay, readSenders, readUnrouted } from './reading/senders.ts'
import { bySubject, periodsAt, readSteps, type Step, type StepsBySubject } from './reading/steps.ts'

export interface LookOptions extends Core {
  readonly settle: Pick<Settle, 'settle' | 'end'>
  readonly health: Pick<HealthRegistry, 'login' | 'breaker'>
  /** Tests a destination in the background, if its last test is not recent. */
  readonly probe: (destination: Destination) => void
}

/** When to look again without new counts, and at which projects. */
export interface NextLook {
  readonly at: number
  readonly projects: ReadonlySet<string>
}

/** Names of the checks in findings: from counts and settings, memory of a daemon, and counts of days. */
const checks = ['watch', 'watch.logins', 'watch.breakers', 'watch.senders'] as const
const [countsCheck, loginCheck, breakerCheck, sendersCheck] = checks
export const isWatchCheck = (check: string): boolean => checks.some((one) => one === check)
/** Interval of looks at an organization with new counts or open findings. */
export const everyMs = 30_000
/** Checks whose findings a look uses: its own, those of writes, and those of the doctor about destinations and parked deliveries. */
const usedChecks = [...checks, '', 'destinations', 'webhooks'] as const
/** Maximum number of open findings that one read returns. */
const maxOpen = 1000

/** Facts for the conditions of one organization. */
interface Seen {
  readonly organizationId: string
  readonly policy: Policy
  readonly now: number
  readonly rolled: RolledTo
  /** Open findings of the organization. */
  readonly open: readonly Finding[]
  readonly looked: ReadonlySet<string>
}

export class Looks {
  readonly #options: LookOptions
  #scans: { readonly at: number; readonly waiting: ReadonlyMap<string, WaitingScans> } | undefined

  constructor(options: LookOptions) {
    this.#options = options
  }

  /** Looks at these projects and at projects with open findings. Returns undefined if only new counts can change the result. */
  async look(organizationId: string, counted: ReadonlySet<string>): Promise<NextLook | undefined> {
    const seen = await this.#seen(organizationId, counted)
    if (!seen) return undefined
    const { policy, now, looked } = seen
    const projects = [...looked].flatMap((id) => policy.projects.get(id) ?? [])
    let conditions: readonly Condition[] = []
    let steps: readonly Step[] = []
    for (const project of projects) {
      const ofProject = await this.#ofProject(seen, project)
      conditions = conditions.concat(ofProject.conditions)
      steps = steps.concat(ofProject.steps)
    }
    await this.#endRepaired(seen)
    conditions = conditions.concat(
      organizationConditions(policy.organization, await this.#overdueMonth(seen)),
      quotaConditions(await readQuota(this.#options.database, policy.organization, projects, now), now),
      scanConditions((await this.#waitingScans(now)).get(organizationId), now),
    )
    const { lookAt } = sorted(conditions)
    const ofSubjects = bySubject(steps)
    const remain = [
      await this.#settle(seen, countsCheck, conditions),
      await this.#settleLogins(seen, ofSubjects),
      await this.#settleBreakers(seen, ofSubjects),
    ]
    const senderAt = (await this.#settleSenders(seen, projects)) ? nextDay(now) : Infinity
    const at = remain.includes(true) ? now + everyMs : Math.min(lookAt, senderAt)
    return at === Infinity ? undefined : { at, projects: looked }
  }

  /** Returns undefined for an organization without checks. */
  async #seen(organizationId: string, counted: ReadonlySet<string>): Promise<Seen | undefined> {
    const { database, clock, policies } = this.#options
    if (organizationId === systemOrganizationId) return undefined // the doctor checks the mail of the service
    if (!(await database.get(organizations, { organizationId }, organizationId))) return undefined
    const policy = await policies.of(organizationId)
    if (policy.organization.deletedAt !== undefined) return undefined
    const open = await this.#open(organizationId)
    const own = open.filter(({ check }) => isWatchCheck(check)).map(({ projectId }) => projectId)
    return { organizationId, policy, now: clock.now(), rolled: await rolledTo(database), open, looked: new Set([...counted, ...own]) }
  }

  async #ofProject(seen: Seen, project: Project): Promise<{ readonly conditions: readonly Condition[]; readonly steps: readonly Step[] }> {
    const { database, health } = this.#options
    const { organizationId, policy, now, rolled, open } = seen
    const periods = periodsAt(now)
    const steps = await readSteps(database, { organizationId, projectId: project.id }, periods, now, rolled)
    const figures = { project, steps, periods }
    const destinations = destinationsOf(policy, project.id)
    const endpoints = policy.webhooks.get(project.id) ?? []
    const receivers = await readReceivers(database, organizationId, { project, steps, endpoints, open })
    const ids = destinations.map(({ id }) => id)
    const waiting = await readQueue(database, organizationId, project.id, ids, now)
    const reported = new Set(open.flatMap(({ kind, subject }) => (kind.startsWith('destination.') ? [subject] : [])))
    const closed = new Set(destinations.flatMap((one) => (health.breaker(one).phase === 'closed' ? [one.id] : [])))
    const unrouted = hasDefaultRoute(policy, project.id) ? nothingUnrouted : unroutedOf(figures)
    const place = { organizationId, projectId: project.id }
    const domains = unrouted.captured + unrouted.refused > 0 ? await readUnrouted(database, place, now) : []
    const approvals = (await awaitingByProject(database, organizationId, project.id)).get(project.id) ?? 0
    return {
      steps,
      conditions: [
        ...routeConditions(figures, unrouted, domains, destinations, now),
        ...destinationConditions(figures, destinations),
        ...(await this.#withDomains(seen, figures)),
        ...(await this.#withUndelivered(seen, receiverConditions(receivers, steps, now))),
        ...queueConditions(project, waiting, (id) => reported.has(id) || !closed.has(id), now),
        ...approvalConditions(project, approvals),
        ...attackConditions(figures, policy.credentials),
      ],
    }
  }

  async #overdueMonth({ organizationId, policy, now }: Seen): Promise<string | undefined> {
    return policy.organization.paymentState === 'past_due' ? readOverdueMonth(this.#options.database, organizationId, now) : undefined
  }

  /** Reads recipient domains only for a finding that names them. */
  async #withDomains({ organizationId, now, rolled }: Seen, figures: ProjectFigures): Promise<readonly Condition[]> {
    const place = { organizationId, projectId: figures.project.id }
    return Promise.all(
      mailConditions(figures).map(async (one) => {
        if (!('params' in one) || one.kind !== 'mail.deferred') return one
        return withDomains(one, await readDeferred(this.#options.database, place, figures.periods, now, rolled))
      }),
    )
  }

  async #withUndelivered({ organizationId, open }: Seen, conditions: readonly Condition[]): Promise<readonly Condition[]> {
    const { database } = this.#options
    return Promise.all(
      conditions.map(async (one) => {
        if (!('params' in one)) return one
        const id = one.subject.replace(/\/webhook$/, '')
        const parked = open.find(({ kind, subject }) => kind === 'webhook.parked' && subject === id)
        return withUndelivered(one, await readUndelivered(database, organizationId, id), Number(parked?.params['count'] ?? 0))
      }),
    )
  }

  async #settleLogins(seen: Seen, steps: StepsBySubject): Promise<boolean> {
    const { health, probe, database } = this.#options
    const open = seen.open.filter(({ check }) => check === loginCheck)
    const since = new Map(open.map(({ subject, openedAt }) => [subject, openedAt]))
    const hasDelivered = (id: string, after = since.get(id) ?? 0): boolean => hasTaken(steps, id, after)
    for (const { subject } of open) {
      const destination = seen.policy.destinations.get(subject)
      const login = destination && health.login(destination)
      const isOutdated = login?.refusedAt != null && hasDelivered(subject, login.refusedAt)
      if (destination && (!login || isOutdated)) probe(destination)
    }
    const conditions = loginConditions(seen.policy, (destination) => health.login(destination), hasDelivered)
    return this.#settle(seen, loginCheck, conditions, { daemon: database.daemons.id })
  }

  /** A breaker says nothing of those of other daemons, so that each daemon ends its own findings. */
  async #settleBreakers(seen: Seen, steps: StepsBySubject): Promise<boolean> {
    const { health, database } = this.#options
    const hasDelivered = (id: string, since: number): boolean => hasTaken(steps, id, since)
    const conditions = breakerConditions(seen.policy, (destination) => health.breaker(destination), hasDelivered, seen.now)
    const counted = conditions.map(async (one) =>
      'params' in one ? withWaiting(one, await countWaiting(database, one.subject, countLimits)) : one,
    )
    return this.#settle(seen, breakerCheck, await Promise.all(counted), { daemon: database.daemons.id })
  }

  /** These findings need no look before the next day, unless mail is accepted or a domain is added. */
  async #settleSenders(seen: Seen, projects: readonly Project[]): Promise<boolean> {
    const { organizationId, policy, now, open } = seen
    const conditions: Condition[] = []
    for (const project of projects) {
      const messages = await readSenders(this.#options.database, { organizationId, projectId: project.id }, now)
      const isElsewhere = ({ kind, subject, projectId }: Finding, domain: string): boolean =>
        kind === 'domain.unknown' && subject === domain && projectId !== project.id && policy.projects.has(projectId)
      const isCovered = (domain: string): boolean =>
        hasDomain(policy.sendingDomains, domain) || open.some((finding) => isElsewhere(finding, domain))
      conditions.push(...senderConditions(project, messages, isCovered))
    }
    return this.#settle(seen, sendersCheck, conditions)
  }

  /** Returns waiting scans by organization, read at most once a round. */
  async #waitingScans(now: number): Promise<ReadonlyMap<string, WaitingScans>> {
    if (!this.#scans || Math.abs(now - this.#scans.at) >= everyMs)
      this.#scans = { at: now, waiting: await readScans(this.#options.database) }
    return this.#scans.waiting
  }

  /** Ends findings of form notifications that no write ended, because the form or its notifications were removed. */
  async #endRepaired({ organizationId, open }: Seen): Promise<void> {
    const { database, settle } = this.#options
    for (const { kind, subject, check } of open) {
      if (kind !== 'form.notification_failing' || check !== '') continue
      const stored = await database.get(formNotifications, { organizationId }, subject)
      if (!stored?.record.problem)
        await transact(database, { organizationId }, (change) => settle.end(change, organizationId, { kind, subject }))
    }
  }

  /** Returns whether findings of the check remain. */
  async #settle(
    { organizationId, policy, open, looked }: Seen,
    check: string,
    conditions: readonly Condition[],
    more: Pick<Parameters<Settle['settle']>[0], 'daemon'> = {},
  ): Promise<boolean> {
    const { observed, undecided } = sorted(conditions)
    if (observed.length === 0 && !open.some((finding) => finding.check === check)) return false
    const kept = new Set(undecided.map(nameOf))
    const coversFinding = (finding: Finding): boolean =>
      !kept.has(nameOf(finding)) && (looked.has(finding.projectId) || !policy.projects.has(finding.projectId))
    return this.#options.settle.settle({ organizationId, check, observed, coversFinding, ...more })
  }

  /** Returns the open findings. If they exceed the limit of a list, returns those of the checks that a look uses. */
  async #open(organizationId: string): Promise<readonly Finding[]> {
    const all = await this.#list(organizationId, 'listed', 'open')
    if (all.length < maxOpen) return all
    const used = await Promise.all(usedChecks.map((check) => this.#list(organizationId, 'check', check)))
    return used.flat()
  }

  async #list(organizationId: string, index: 'listed' | 'check', value: string): Promise<readonly Finding[]> {
    const options = { index, values: [value], limit: maxOpen, forWork: true } as const
    const { rows } = await this.#options.database.list(findings, { organizationId }, options)
    return rows.map(({ record }) => record)
  }
}

/** Whether the destination accepted a message in a step that began after this time. */
const hasTaken = (steps: StepsBySubject, destinationId: string, since: number): boolean =>
  steps.get(destinationId)?.some(({ from, counts }) => from >= since && counts.has(recipientNames.taken)) === true

/** Returns the destinations that mail of the project can use. */
const destinationsOf = ({ destinations }: Policy, projectId: string): readonly Destination[] =>
  [...destinations.values()].filter((one) => one.projectId === projectId || one.shared !== undefined)
