/** What nearly every part of the core works with: made once for a daemon, and handed in whole. */
import type { Database } from '#store/database.ts'
import type { SecretBox } from './access/secret-box.ts'
import type { Clock } from './clock.ts'
import type { Policies } from './routing/policy/policy.ts'
import type { Audit } from './writes/audit.ts'
import type { SettingWrites } from './writes/setting-writes.ts'

/** A part that needs more than this extends it by options of its own; parts below it (`Policies`, `Audit`) name what they need. */
export interface Core {
  readonly database: Database
  /** The settings of an organization, from memory. */
  readonly policies: Policies
  readonly clock: Clock
  /** Seals what is secret before it is stored. */
  readonly secrets: SecretBox
  /** Changes of settings, each with its line in the audit log. */
  readonly writes: SettingWrites
  /** For changes of settings that are written with something else. */
  readonly audit: Audit
}
