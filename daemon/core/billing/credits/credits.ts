/** Credits of organizations, which pay for managed websites. Spec "Limits" 15. */
import { monthlyCredits, toCredits } from '#config/plans/credits.ts'
import type { Change } from '#store/change.ts'
import type { Page } from '#store/database.ts'
import type { Stored } from '#store/record-kind.ts'
import type { PageQuery } from '../../access/principal/lists.ts'
import type { Core } from '../../core.ts'
import { invalid, Refusal } from '../../refusals.ts'
import { organizations, type Organization } from '../../tenancy/organization.ts'
import { transact } from '../../writes/transact.ts'
import { CreditBook, inOrderOfUse, newAccount } from './credit-book.ts'
import { creditAccounts, creditEntries, creditGrants, type CreditAccount, type CreditEntry, type CreditGrant } from './credit.ts'

export interface CreditState {
  readonly balanceUcr: number
  /** The plan has credits by contract: use is recorded but costs no credits. */
  readonly isUnlimited: boolean
  /** Whether websites are served. */
  readonly hasCredit: boolean
  /** The last reported share of used credits since the last increase: 80, 95 or 100 percent, or 0. */
  readonly alertPercent: number
  /** Grants with a remaining amount, in the order of spending. */
  readonly grants: readonly CreditGrant[]
}

export interface CreditsGiven {
  readonly kind: 'operator' | 'purchased'
  readonly amountUcr: number
  /** Null for no expiry. */
  readonly expiresAt: number | null
  readonly note: string
}

/** The records that a change starts from. */
interface Opened {
  readonly book: CreditBook
  readonly account: Stored<CreditAccount> | undefined
  readonly grants: ReadonlyMap<string, Stored<CreditGrant>>
}

/** Use of a website that is not yet charged. */
export interface WebsiteUse {
  readonly organizationId: string
  readonly siteId: string
  readonly trafficBytes: number
  /** Octets times milliseconds. */
  readonly storedByteMs: bigint
  /** End of the time span of the use. */
  readonly untilMs: number
}

/** Announces use by an organization that has used at least 80 % of its credits; see `Database.onWork`. */
export const creditUseWork = 'credits.used'
/** Numbers are exact up to nine times this amount. */
const maxBalanceUcr = 1e15

export class Credits {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  async hasCredit(organizationId: string): Promise<boolean> {
    const organization = await this.#organization(organizationId)
    if (!organization) return false
    const { book } = await this.#open(organization)
    return hasCredit(organization, book)
  }

  /** Writes changes that result from time alone: expired credits, and allowances of the months since the last call. */
  refresh(organizationId: string): Promise<void> {
    return transact(this.#core.database, { organizationId }, async (change) => {
      const organization = await this.#organization(organizationId)
      if (organization) await this.#close(change, organizationId, await this.#open(organization))
    })
  }

  /** Returns the current state, including the allowance of the present month. Throws `not_found`. */
  async of(organizationId: string): Promise<CreditState> {
    const organization = await this.#must(organizationId)
    const { book } = await this.#open(organization)
    return {
      ...{ balanceUcr: book.balanceUcr, isUnlimited: isUnlimited(organization), hasCredit: hasCredit(organization, book) },
      alertPercent: book.account.alerted,
      grants: [...book.grants.values()].filter(({ remainingUcr }) => remainingUcr > 0).toSorted(inOrderOfUse),
    }
  }

  /** Lists the ledger, newest first. Throws `CursorInvalid`. */
  async entries(organizationId: string, page: PageQuery): Promise<Page<CreditEntry>> {
    const { rows, nextCursor } = await this.#core.database.list(creditEntries, { organizationId }, page)
    return { rows: rows.map(({ record }) => record), nextCursor }
  }

  /** Adds the charge for a website's use to the write. */
  async settle(change: Change, { organizationId, siteId, trafficBytes, storedByteMs, untilMs }: WebsiteUse): Promise<void> {
    const organization = await this.#organization(organizationId)
    if (!organization) return // removed; no account remains to charge
    const opened = await this.#open(organization)
    const { book } = opened
    book.spend({ use: 'traffic', siteId, quantity: BigInt(trafficBytes) }, organization.plan, untilMs)
    book.spend({ use: 'storage', siteId, quantity: storedByteMs }, organization.plan, untilMs)
    // repeated with each use, so that a crash before the look at the organization loses nothing
    if (book.reachedAlert() > 0) change.schedule(creditUseWork, organizationId)
    await this.#close(change, organizationId, opened)
  }

  /**
   * Grants credits that the operator gives or records as purchased, with an entry in the audit log. `by` is a user, or undefined for the
   * operator's key. Throws `not_found`. Throws `validation_failed` for a past expiry, and for a balance above `maxBalanceUcr`.
   */
  async give(organizationId: string, given: CreditsGiven, by?: string): Promise<CreditGrant> {
    const { writes, audit, clock } = this.#core
    return writes.run(organizationId, async (change) => {
      const opened = await this.#open(await this.#must(organizationId))
      const now = clock.now()
      if (given.expiresAt !== null && given.expiresAt <= now) throw invalid([{ path: 'expires_at', message: 'must be in the future' }])
      if (opened.book.balanceUcr + given.amountUcr > maxBalanceUcr)
        throw invalid([{ path: 'credits', message: 'would make the balance larger than 1,000,000,000 credits' }])
      const made = opened.book.grant({ id: this.#core.database.newId('crg', now), period: undefined, grantedBy: by ?? '', ...given }, now)
      await this.#close(change, organizationId, opened)
      const { id, kind, amountUcr, note } = made
      const details = { kind, credits: toCredits(amountUcr), note }
      audit.record(change, { organizationId, actor: { kind: 'operator', id: by ?? '' }, act: 'credit.granted', target: id, details })
      return made
    })
  }

  /** Returns the current credits, including changes that are not yet written. */
  async #open({ id: organizationId, plan }: Organization): Promise<Opened> {
    const { database, clock } = this.#core
    const reach = { organizationId }
    const [account, grants] = await Promise.all([database.get(creditAccounts, reach, organizationId), database.all(creditGrants, reach)])
    const book = new CreditBook(
      account?.record ?? newAccount(organizationId),
      grants.map(({ record }) => record),
    )
    const now = clock.now()
    book.bringUpToDate(plan, now)
    return { book, account, grants: new Map(grants.map((stored) => [stored.record.id, stored])) }
  }

  /** Adds the changed records to the write. Every write includes the account, so that concurrent changes conflict. */
  async #close(change: Change, organizationId: string, { book, account, grants }: Opened): Promise<void> {
    if (book.entries.length === 0 && (!account || account.record === book.account)) return
    if (account) change.rewrite(creditAccounts, organizationId, account, book.account)
    else change.insert(creditAccounts, organizationId, book.account)
    for (const grant of book.grants.values()) {
      const before = grants.get(grant.id)
      if (!before) change.insert(creditGrants, organizationId, grant)
      else if (before.record !== grant) change.rewrite(creditGrants, organizationId, before, grant)
    }
    const at = this.#core.clock.now()
    for (const entry of book.entries) {
      const { siteId, day, reason, grantId, deltaUcr, quantity } = entry
      const before =
        siteId === undefined
          ? undefined
          : await this.#core.database.find(creditEntries, { organizationId }, 'use', [day, reason, siteId, grantId ?? ''])
      if (!before) change.insert(creditEntries, organizationId, { id: this.#core.database.newId('cre', at), at, ...entry })
      else {
        const total = BigInt(before.record.quantity ?? 0) + BigInt(quantity ?? 0)
        const sum = { ...before.record, at, deltaUcr: before.record.deltaUcr + deltaUcr, quantity: String(total) }
        change.rewrite(creditEntries, organizationId, before, sum)
      }
    }
  }

  async #organization(id: string): Promise<Organization | undefined> {
    return (await this.#core.database.get(organizations, { organizationId: id }, id))?.record
  }

  async #must(id: string): Promise<Organization> {
    const organization = await this.#organization(id)
    if (organization) return organization
    throw new Refusal('not_found', 'No organization has this id.')
  }
}

const isUnlimited = ({ plan }: Organization): boolean => monthlyCredits[plan].credits === undefined
const hasCredit = (organization: Organization, { balanceUcr }: CreditBook): boolean => isUnlimited(organization) || balanceUcr > 0
