/** The cached organization settings that webhooks depend on. The organization's policy has this shape. */
import type { FeatureSettings } from '../plan/features.ts'

export interface WebhookSettings {
  readonly organization: FeatureSettings & { readonly deletedAt?: number | undefined }
  /** Existing projects by id. */
  readonly projects: ReadonlyMap<string, unknown>
}
