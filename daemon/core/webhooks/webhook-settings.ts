/** What webhooks must know of the nouns above them, as a shape: the cached policy of an organization has it. */
import type { FeatureSettings } from '../plan/features.ts'

/** The part of an organization's settings that webhooks depend on. */
export interface WebhookSettings {
  readonly organization: FeatureSettings & { readonly deletedAt?: number | undefined }
  /** Those that are alive, by id. */
  readonly projects: ReadonlyMap<string, unknown>
}
