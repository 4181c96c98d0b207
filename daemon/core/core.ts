/** Common dependencies of the core, created once per daemon. */
import type { Database } from '#store/database.ts'
import type { SecretBox } from './access/secret-box.ts'
import type { Clock } from './clock.ts'
import type { Policies } from './routing/policy/policy.ts'
import type { Audit } from './writes/audit.ts'
import type { SettingWrites } from './writes/setting-writes.ts'

/** Parts with further dependencies extend this interface. Its own members (`Policies`, `Audit`) list their dependencies. */
export interface Core {
  readonly database: Database
  /** Cached settings of organizations. */
  readonly policies: Policies
  readonly clock: Clock
  /** Encrypts secrets before storing. */
  readonly secrets: SecretBox
  /** Changes of settings with their audit entries. */
  readonly writes: SettingWrites
  /** For changes of settings within other writes. */
  readonly audit: Audit
}
