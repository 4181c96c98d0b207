/**
 * Actions that only the operator of the service can take: plans, overrides, flags, prices and payment states of all organizations. Each
 * action is recorded in the organization's audit log, in the same write.
 */
import { isDeepStrictEqual } from 'node:util'
import { featureNames, type Feature } from '#config/plans/features.ts'
import { countedLimits, includedFeatures, type PlanName, type PlanOverrides } from '#config/plans/plans.ts'
import type { Axis } from '#config/plans/prices.ts'
import type { Change } from '#store/change.ts'
import { cursorAt, keyAt } from '#store/cursor.ts'
import type { Page } from '#store/database.ts'
import { pack, unpack } from '#store/tuple.ts'
import type { Core } from '../core.ts'
import type { PageQuery } from '../access/principal/lists.ts'
import { isSwitchedOn } from '../plan/features.ts'
import type { PaymentState } from '../plan/limits.ts'
import { invalid, Refusal } from '../refusals.ts'
import { monthOf } from '../tenancy/counters.ts'
import { organizationsAfter } from '../tenancy/organization-list.ts'
import { organizations, type Organization } from '../tenancy/organization.ts'
import { Credits } from './credits/credits.ts'
import { planTerms } from './plan-term.ts'
import { prices, type Price } from './price.ts'

/** An organization with its separate prices. */
export interface OrganizationAccount {
  readonly organization: Organization
  readonly prices: readonly Price[]
}

/** Null removes a value, so that the plan's value or the default applies; omitted fields keep their values. */
export type OverrideChanges = { readonly [Limit in keyof PlanOverrides]?: PlanOverrides[Limit] | null | undefined }
export type FlagChanges = { readonly [Flag in Feature]?: boolean | null | undefined }

export interface NewPrice {
  readonly axis: Axis
  readonly unitPriceUrp: number
  /** A month such as `2026-11`, not in the past; defaults to the present month. */
  readonly effectiveFrom?: string | undefined
}

/** Namespace of the list's cursors. */
const everyOrganization = ['', organizations.name]

/** The person acting for the operator: the id of a user, or undefined for the operator's key. */
export type OperatorId = string | undefined

export interface OrganizationFilter {
  /** Part of the name or id. */
  readonly q?: string | undefined
}

/** A page of a search reads at most this number of organizations; its cursor continues after them. */
const maxLooks = 5000

export interface OperatorOptions extends Core {
  /** Adds to the write that turned the feature `alerts` on or off. */
  readonly onAlertsSwitched: (change: Change, organizationId: string) => Promise<void>
  /** Called after a write that changed limits or the state of payment, so that findings about these open and end without mail. */
  readonly onChanged: (organizationId: string) => void
}

export class Operator {
  readonly #core: OperatorOptions
  readonly #credits: Credits

  constructor(core: OperatorOptions) {
    this.#core = core
    this.#credits = new Credits(core)
  }

  /** Lists organizations in order of their ids, which is the order of creation. Throws `CursorInvalid`. */
  async list({ limit, cursor, q }: PageQuery & OrganizationFilter): Promise<Page<Organization>> {
    const wanted = q?.toLowerCase() ?? ''
    const rows: Organization[] = []
    let after = cursor === undefined ? undefined : String(unpack(keyAt(everyOrganization, cursor)).at(-1))
    for (let looks = 0; rows.length < limit && looks < maxLooks; looks += limit) {
      const found = await organizationsAfter(this.#core.database, after, limit)
      const fitting = found.filter(({ id, name }) => wanted === '' || `${id}\n${name.toLowerCase()}`.includes(wanted))
      const taken = fitting.slice(0, limit - rows.length)
      rows.push(...taken)
      after = (taken.length < fitting.length ? taken : found).at(-1)?.id
      if (after === undefined) break
    }
    const [next] = after === undefined ? [] : await organizationsAfter(this.#core.database, after, 1)
    return { rows, nextCursor: next && after && cursorAt(everyOrganization, pack([...everyOrganization, after])) }
  }

  /** Throws `not_found`. */
  async get(id: string): Promise<OrganizationAccount> {
    const { database } = this.#core
    const { record } = await this.#stored(id)
    const own = await database.all(prices, { organizationId: id })
    return { organization: record, prices: own.map((price) => price.record) }
  }

  /** Changes the plan. Existing resources are kept; sends in flight use the settings that they read. Throws `not_found`. */
  async setPlan(id: string, plan: PlanName, by?: OperatorId): Promise<OrganizationAccount> {
    await this.#credits.refresh(id) // grants the credits that are due under the previous plan
    return this.#change(id, by, 'organization.plan_set', (before) => ({ ...before, plan }), { plan })
  }

  /** Throws `not_found`. */
  setOverrides(id: string, changes: OverrideChanges, by?: OperatorId): Promise<OrganizationAccount> {
    const next = ({ overrides, ...before }: Organization): Organization => {
      const merged = merge(overrides, changes, [...countedLimits, ...includedFeatures])
      return { ...before, ...(merged && { overrides: merged }) }
    }
    return this.#change(id, by, 'organization.overrides_set', next, { overrides: changes })
  }

  /** Takes effect with the next request. Throws `not_found`. */
  setFlags(id: string, changes: FlagChanges, by?: OperatorId): Promise<OrganizationAccount> {
    const next = ({ flags, ...before }: Organization): Organization => {
      const merged = merge(flags, changes, featureNames)
      return { ...before, ...(merged && { flags: merged as Record<string, boolean> }) }
    }
    return this.#change(id, by, 'organization.flags_set', next, { flags: changes })
  }

  /** Throws `not_found`. */
  setPaymentState(id: string, paymentState: PaymentState, by?: OperatorId): Promise<OrganizationAccount> {
    return this.#change(id, by, 'organization.payment_state_set', (before) => ({ ...before, paymentState }), {
      payment_state: paymentState,
    })
  }

  /** Past months keep their prices. Throws `not_found`, and `validation_failed` for a past month. */
  async setPrices(id: string, changes: readonly NewPrice[], by?: OperatorId): Promise<OrganizationAccount> {
    const { database, writes, clock } = this.#core
    const now = clock.now()
    const month = monthOf(now)
    if (changes.some(({ effectiveFrom = month }) => effectiveFrom < month))
      throw invalid([{ path: 'effective_from', message: `must be ${month} or later; past months keep their prices` }])
    await writes.run(id, async (change) => {
      await this.#stored(id)
      let number = (await database.all(prices, { organizationId: id })).length
      for (const { axis, unitPriceUrp, effectiveFrom = month } of changes) {
        change.insert(prices, id, { id: database.newId('prc', now), axis, unitPriceUrp, effectiveFrom, setAt: now, number: number++ })
        this.#record(change, id, by, 'organization.price_set', { axis, unit_price_urp: unitPriceUrp, effective_from: effectiveFrom })
      }
    })
    return this.get(id)
  }

  async #change(
    id: string,
    by: OperatorId,
    act: string,
    next: (before: Organization) => Organization,
    details: Readonly<Record<string, unknown>>,
  ): Promise<OrganizationAccount> {
    await this.#core.writes.run(id, async (change) => {
      const stored = await this.#stored(id)
      const before = stored.record
      const after = next(before)
      if (isDeepStrictEqual(before, after)) return
      change.replace(organizations, id, stored, after)
      if (before.plan !== after.plan || !isDeepStrictEqual(before.overrides, after.overrides)) await this.#beginTerm(change, before, after)
      if (isSwitchedOn(before, 'alerts') !== isSwitchedOn(after, 'alerts')) await this.#core.onAlertsSwitched(change, id)
      this.#record(change, id, by, act, details)
    })
    this.#core.onChanged(id)
    return this.get(id)
  }

  async #beginTerm(change: Change, before: Organization, after: Organization): Promise<void> {
    const { database, clock } = this.#core
    const now = clock.now()
    const organizationId = before.id
    const terms = await database.all(planTerms, { organizationId })
    const term = ({ plan, overrides }: Organization, from: number, number: number) =>
      change.insert(planTerms, organizationId, { id: database.newId('trm', now), plan, ...(overrides && { overrides }), from, number })
    if (terms.length === 0) term(before, before.createdAt, 0)
    term(after, now, Math.max(terms.length, 1))
  }

  #record(change: Change, organizationId: string, by: OperatorId, act: string, details: Readonly<Record<string, unknown>>): void {
    const actor = { kind: 'operator', id: by ?? '' } as const
    this.#core.audit.record(change, { organizationId, actor, act, target: organizationId, details })
  }

  async #stored(id: string) {
    const stored = await this.#core.database.get(organizations, { organizationId: id }, id)
    if (!stored) throw new Refusal('not_found', 'No organization has this id.')
    return stored
  }
}

/** Returns the values after the changes, in the order of `names`; undefined if no value remains. */
function merge(
  before: Readonly<Record<string, unknown>> | undefined,
  changes: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> | undefined {
  const merged = names.flatMap((name) => {
    const value = changes[name] === undefined ? before?.[name] : changes[name]
    return value === undefined || value === null ? [] : [[name, value] as const]
  })
  return merged.length === 0 ? undefined : Object.fromEntries(merged)
}
