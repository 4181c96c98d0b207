/** Shape of the settings that access checks use. The cached policy of an organization has this shape. */
import type { FeatureSettings } from '../../plan/features.ts'
import type { ApprovingProject } from './agent-approval.ts'

/** The part of an organization's settings that grants depend on. */
export interface GrantSettings {
  readonly organization: FeatureSettings & { readonly defaultProjectId: string; readonly deletedAt?: number | undefined }
  readonly projects: ReadonlyMap<string, ApprovingProject>
  /** Ids of projects that are being deleted; `projects` does not contain them. */
  readonly deleted: ReadonlySet<string>
  readonly credentials: ReadonlyMap<string, unknown>
  readonly destinations: ReadonlyMap<string, { readonly projectId: string; readonly shared?: unknown; readonly environment: string | null }>
}
