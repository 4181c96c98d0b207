/** The one place that tells whether an organization may use a feature: its plan includes it, and its flag is on. Pure. */
import { featureDefaults, type Feature } from '#config/features.ts'
import { plans, type PlanName } from '#config/plans.ts'

/** As much of an organization as is looked at. */
export interface FeatureSettings {
  readonly plan: PlanName
  /** By name of the feature; one that is not there has its default. */
  readonly flags?: Readonly<Record<string, boolean>> | undefined
}

/** What keeps an organization from a feature. `plan`: not included; `flag`: switched off for this organization. */
export type FeatureBar = 'plan' | 'flag'

/** What keeps the organization from the feature now; undefined when it may use it. The plan comes before the flag. */
export function featureBar({ plan, flags }: FeatureSettings, feature: Feature): FeatureBar | undefined {
  if (!plans[plan].tracking) return 'plan'
  return (flags?.[feature] ?? featureDefaults[feature]) ? undefined : 'flag'
}
