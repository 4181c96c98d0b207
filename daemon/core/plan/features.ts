/** The one place that decides whether an organization may use a feature: its plan includes it, and its flag is on. Pure. */
import { featureFlag, type Feature } from '#config/plans/features.ts'
import { limitsOf, type LimitSettings } from './limits.ts'
import { Refusal } from '../refusals.ts'

/** As much of an organization as is looked at. */
export interface FeatureSettings extends LimitSettings {
  /** By name of the feature; one that is not there has its default. */
  readonly flags?: Readonly<Record<string, boolean>> | undefined
}

/** What keeps an organization from a feature. `plan`: not included; `flag`: switched off for this organization. */
export type FeatureBar = 'plan' | 'flag'

/** What keeps the organization from the feature now; undefined when it may use it. The plan comes before the flag. */
export function featureBar(settings: FeatureSettings, feature: Feature): FeatureBar | undefined {
  const { plan } = featureFlag(feature)
  if (plan !== undefined && !limitsOf(settings)[plan]) return 'plan'
  return isSwitchedOn(settings, feature) ? undefined : 'flag'
}

/** Whether the flag is on, whatever the plan includes. */
export const isSwitchedOn = ({ flags }: FeatureSettings, feature: Feature): boolean => flags?.[feature] ?? featureFlag(feature).default

/** Throws `feature_disabled` when the flag is off. */
export function requireFlag(settings: FeatureSettings, feature: Feature): void {
  if (isSwitchedOn(settings, feature)) return
  const message = `${featureFlag(feature).what} is turned off for this organization; ask the operator of the service to turn on ${feature}.`
  throw new Refusal('feature_disabled', message, { details: { flag: feature } })
}
