/** Decides whether an organization can use a feature: its plan must include it, and its flag must be on. Pure. */
import { featureFlag, type Feature } from '#config/plans/features.ts'
import { limitsOf, type LimitSettings } from './limits.ts'
import { Refusal } from '../refusals.ts'

/** The fields of an organization that the decision reads. */
export interface FeatureSettings extends LimitSettings {
  /** By feature name; features that are absent have their defaults. */
  readonly flags?: Readonly<Record<string, boolean>> | undefined
}

/** Reason why a feature is unavailable. `plan`: not included in the plan; `flag`: turned off for this organization. */
export type FeatureBar = 'plan' | 'flag'

/** Returns the reason why the organization cannot use the feature; undefined if it can. Checks the plan first. */
export function featureBar(settings: FeatureSettings, feature: Feature): FeatureBar | undefined {
  const { plan } = featureFlag(feature)
  if (plan !== undefined && !limitsOf(settings)[plan]) return 'plan'
  return isSwitchedOn(settings, feature) ? undefined : 'flag'
}

/** Returns whether the flag is on, regardless of the plan. */
export const isSwitchedOn = ({ flags }: FeatureSettings, feature: Feature): boolean => flags?.[feature] ?? featureFlag(feature).default

/** Throws `feature_disabled` if the flag is off. */
export function requireFlag(settings: FeatureSettings, feature: Feature): void {
  if (isSwitchedOn(settings, feature)) return
  const message = `${featureFlag(feature).what} is turned off for this organization; ask the operator of the service to turn on ${feature}.`
  throw new Refusal('feature_disabled', message, { details: { flag: feature } })
}
