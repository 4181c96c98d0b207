/** Reads and changes the recipients of invoices; only the operator changes them. */
import type { Core } from '../core.ts'
import { organizations } from '../tenancy/organization.ts'
import { must } from '../writes/transact.ts'
import { billingProfiles, noProfile, type BillingProfile } from './billing-profile.ts'

export type ProfileChanges = { readonly [Field in keyof Omit<BillingProfile, 'id'>]?: BillingProfile[Field] | undefined }

export class BillingProfiles {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /** Throws `not_found`. */
  async of(organizationId: string): Promise<BillingProfile> {
    const { database } = this.#core
    await must(database, organizations, { organizationId }, organizationId)
    return (await database.get(billingProfiles, { organizationId }, organizationId))?.record ?? noProfile(organizationId)
  }

  /** Omitted fields keep their values. Final invoices do not change. Throws `not_found`. */
  async change(organizationId: string, changes: ProfileChanges, by?: string): Promise<BillingProfile> {
    const { database, writes, audit } = this.#core
    await writes.run(organizationId, async (change) => {
      await must(database, organizations, { organizationId }, organizationId)
      const stored = await database.get(billingProfiles, { organizationId }, organizationId)
      const before = stored?.record ?? noProfile(organizationId)
      const given = Object.entries(changes).filter(([, value]) => value !== undefined)
      const next: BillingProfile = { ...before, ...Object.fromEntries(given) }
      if (stored) change.replace(billingProfiles, organizationId, stored, next)
      else change.insert(billingProfiles, organizationId, next)
      const actor = { kind: 'operator', id: by ?? '' } as const
      const details = { changed: given.map(([field]) => field) }
      audit.record(change, { organizationId, actor, act: 'billing_profile.set', target: organizationId, details })
    })
    return this.of(organizationId)
  }
}
