/** Dependencies of the core over a store, for parts without a daemon. */
import { SecretBox } from '#core/access/secret-box.ts'
import type { Clock } from '#core/clock.ts'
import type { Core } from '#core/core.ts'
import { Policies } from '#core/routing/policy/policy.ts'
import { Audit } from '#core/writes/audit.ts'
import { SettingWrites } from '#core/writes/setting-writes.ts'
import type { Database } from '#store/database.ts'

export function coreOf(database: Database, clock: Clock): Core {
  const audit = new Audit({ database, clock })
  const secrets = new SecretBox(Buffer.alloc(32, 7))
  return { database, clock, secrets, audit, policies: new Policies(database), writes: new SettingWrites(database, audit) }
}
