/** Limits of an organization: its plan with the overrides of the operator. Spec "Limits". */
import { countedLimits, planNames, plans, type IncludedFeature, type Plan, type PlanName, type PlanOverrides } from '#config/plans/plans.ts'
import { Refusal } from '../refusals.ts'

/** Spec "Limits" 1. `manual_ok`: payment of overage is agreed. */
export const paymentStates = ['none', 'manual_ok', 'past_due'] as const
export type PaymentState = (typeof paymentStates)[number]

/** The fields of an organization that determine its limits. */
export interface LimitSettings {
  readonly plan: PlanName
  readonly overrides?: PlanOverrides | undefined
  /** `none` by default. */
  readonly paymentState?: PaymentState | undefined
}

/** Returns the limits of an organization. The only function that combines plan and overrides. */
export function limitsOf({ plan, overrides }: LimitSettings): Plan {
  if (overrides === undefined) return plans[plan]
  const limits: Record<string, unknown> = { ...plans[plan] }
  for (const [limit, value] of Object.entries(overrides)) if (value !== undefined) limits[limit] = value
  for (const limit of countedLimits) if (limits[limit] === -1) limits[limit] = undefined
  return limits as unknown as Plan
}

/** Returns whether use beyond the plan is billed instead of refused. */
export const billsOverage = (settings: LimitSettings): boolean => limitsOf(settings).overageBilled && settings.paymentState === 'manual_ok'

/** Returns the refusal of overage that could be billed if payment were confirmed. Spec "Limits" 1. */
export function unpaidOverage({ plan, paymentState }: LimitSettings, what: string): Refusal {
  const why = paymentState === 'past_due' ? 'a payment is overdue' : 'no payment method is confirmed'
  return new Refusal('quota_exceeded', `The plan ${plan} includes ${what}. Overage is billed, but ${why}: ask the operator of the service.`)
}

/**
 * Throws `feature_disabled` with the next action `upgrade` if the plan does not include a feature. It is not a 429, because waiting does
 * not help. `lacks` completes "The plan free …"; `instead` names an alternative for the caller, if any.
 */
export function requireIncluded(
  settings: LimitSettings,
  feature: Exclude<IncludedFeature, 'overageBilled' | 'tracking'>,
  { lacks, instead }: { readonly lacks: string; readonly instead?: string },
): void {
  if (limitsOf(settings)[feature]) return
  const includedIn = planNames.filter((name) => plans[name][feature])
  const remedy = `${instead === undefined ? '' : `${instead}, or `}raise the plan to ${includedIn.join(' or ')}`
  throw new Refusal('feature_disabled', `The plan ${settings.plan} ${lacks}; ${remedy}.`, {
    nextAction: 'upgrade',
    details: { plan: settings.plan, included_in: includedIn },
  })
}

/**
 * Throws `quota_exhausted` if `alive` has reached a fixed limit. Throws `quota_exceeded` if overage would be billed but payment is not
 * confirmed. `one` is the singular noun, whose plural ends in s.
 */
export function requireRoom(
  settings: LimitSettings,
  limit: 'smtpCredentials' | 'teamOrganizations' | 'templates',
  one: string,
  alive: number,
): void {
  const allowed = limitsOf(settings)[limit]
  if (allowed === undefined || alive < allowed) return
  const what = `${allowed} ${one}${allowed === 1 ? '' : 's'}`
  if (limit === 'smtpCredentials' && limitsOf(settings).overageBilled) {
    if (billsOverage(settings)) return
    throw unpaidOverage(settings, what)
  }
  const remedy = allowed === 0 ? 'raise the plan' : 'remove one, or raise the plan'
  throw new Refusal('quota_exhausted', `The plan ${settings.plan} allows ${what}; ${remedy}.`)
}
