/** Usage of an organization in a month, and its current use of limits. Spec "Limits". */
import { axisNames, type Axis } from '#config/plans/prices.ts'
import type { Plan, PlanName } from '#config/plans/plans.ts'
import type { Visibility } from '#store/database.ts'
import { pack, type Element } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import { smtpCredentials } from '../access/smtp-credential.ts'
import { limitsOf } from '../plan/limits.ts'
import { peakUsage } from '../plan/peak-usage.ts'
import { storedByDay } from './explained/stored-traces.ts'
import { Refusal } from '../refusals.ts'
import { templates } from '../templates/template.ts'
import {
  agentCallCounter,
  captureCounter,
  dayOf,
  formDayCounter,
  organizationSendCounter,
  sendCounter,
  storedFormFilesCounter,
  storedInboundCounter,
  storedTracesCounter,
  usageCounter,
  type EventAxis,
} from '../tenancy/counters.ts'
import { organizations, projects, type Organization } from '../tenancy/organization.ts'
import { periodOf, type Period } from './period.ts'
import { planTerms, type PlanTerm } from './plan-term.ts'
import { overageByDay, sendsByDay } from './explained/use-by-day.ts'

export interface ProjectUsage {
  readonly projectId: string
  readonly name: string
  readonly sends: number
  readonly smtpMessages: number
  readonly captures: number
}

/** Current use of a limit. `limit` undefined means unlimited. */
export interface LimitUse {
  readonly name:
    | 'sends_today'
    | 'traces_stored'
    | 'smtp_credentials'
    | 'templates'
    | 'form_submissions_today'
    | 'form_file_mebibytes'
    | 'inbound_mebibytes'
  readonly used: number
  readonly limit: number | undefined
}

/** All values are whole numbers. */
export interface UsageReport {
  readonly period: Period
  readonly plan: PlanName
  /** Accepted sends through all entry points, including messages that a replay queued again. */
  readonly sends: number
  /** Number of calls of agents. */
  readonly agentCalls: number
  readonly axes: Readonly<Record<Axis, number>>
  readonly projects: readonly ProjectUsage[]
  readonly limits: readonly LimitUse[]
}

export class Usage {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * Returns the usage of a month such as `2026-11`, by default the present month. Throws `validation_failed` for an invalid or future
   * month.
   */
  async of(organizationId: string, month: string | undefined): Promise<UsageReport> {
    const { database, clock } = this.#core
    const now = clock.now()
    const period = periodOf(month, now)
    const stored = await database.get(organizations, { organizationId }, organizationId)
    if (!stored) throw new Refusal('not_found', 'No organization has this id.')
    const terms = (await database.all(planTerms, { organizationId })).map(({ record }) => record)
    const daily = await sendsByDay(database, organizationId, period)
    return {
      period,
      plan: stored.record.plan,
      sends: sum(daily),
      agentCalls: await this.#count(agentCallCounter(organizationId, period.month)),
      axes: await this.#axes(stored.record, terms, period, daily),
      projects: await this.#projects(organizationId, period),
      limits: await this.#limits(stored.record, now),
    }
  }

  async #axes(
    organization: Organization,
    terms: readonly PlanTerm[],
    period: Period,
    sends: readonly number[],
  ): Promise<Record<Axis, number>> {
    const { id } = organization
    const { database } = this.#core
    const axes = {} as Record<Axis, number>
    for (const axis of axisNames) {
      if (axis === 'sources' || axis === 'smtp_credentials') axes[axis] = (await peakUsage(database, id, axis, period.month)).most.count
      else if (axis === 'traces_stored') axes[axis] = await this.#averageStored(id, period)
      else if (axis === 'sends_overage') axes[axis] = sum(overageByDay(organization, terms, period, sends))
      else axes[axis] = await this.#count(usageCounter(id, axis satisfies EventAxis, period.month))
    }
    return axes
  }

  /** Returns the average over all days of the month, rounded half up; future days count as 0. */
  async #averageStored(organizationId: string, period: Period): Promise<number> {
    const stored = await storedByDay(this.#core.database, organizationId, period.begun)
    const total = sum(stored.map(({ count }) => count))
    return Math.floor((2 * total + period.days.length) / (2 * period.days.length))
  }

  async #projects(organizationId: string, { month, begun }: Period): Promise<ProjectUsage[]> {
    const rows: ProjectUsage[] = []
    for (const { record } of await this.#core.database.all(projects, { organizationId })) {
      if (record.deletedAt !== undefined) continue
      const { id: projectId, name } = record
      const [smtpMessages, captures, ...sends] = await Promise.all([
        this.#count(usageCounter(organizationId, 'smtp_messages', month, projectId)),
        this.#count(captureCounter(organizationId, projectId, month)),
        ...begun.map((day) => this.#count(sendCounter(organizationId, projectId, day))),
      ])
      rows.push({ projectId, name, sends: sum(sends), smtpMessages, captures })
    }
    return rows
  }

  async #limits(organization: Organization, nowMs: number): Promise<LimitUse[]> {
    const { database } = this.#core
    const { id: organizationId } = organization
    const limits: Plan = limitsOf(organization)
    const all = await database.all(projects, { organizationId })
    const deleted = all.flatMap(({ record }) => (record.deletedAt === undefined ? [] : [record.id]))
    const reach: Visibility = { organizationId, hiddenProjects: new Set(deleted) }
    const today = dayOf(nowMs)
    const [sends, submissions, traces, credentials, made, files, inbound] = await Promise.all([
      this.#count(organizationSendCounter(organizationId, today)),
      this.#count(formDayCounter(organizationId, today)),
      this.#count(storedTracesCounter(organizationId)),
      database.all(smtpCredentials, reach),
      database.all(templates, reach),
      this.#count(storedFormFilesCounter(organizationId)),
      this.#count(storedInboundCounter(organizationId)),
    ])
    return [
      { name: 'sends_today', used: sends, limit: limits.sendsPerDay },
      { name: 'traces_stored', used: traces, limit: limits.tracesStored },
      { name: 'smtp_credentials', used: credentials.length, limit: limits.smtpCredentials },
      { name: 'templates', used: made.length, limit: limits.templates },
      { name: 'form_submissions_today', used: submissions, limit: limits.formSubmissionsPerDay },
      { name: 'form_file_mebibytes', used: Math.ceil(files / 2 ** 20), limit: limits.formFileMebibytes },
      { name: 'inbound_mebibytes', used: Math.ceil(inbound / 2 ** 20), limit: limits.inboundMebibytes },
    ]
  }

  #count(key: readonly Element[]): Promise<number> {
    return this.#core.database.kv.counter(pack(key))
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0)
