/** Credits as they are kept: grants with what is left of them, the account that all changes of them go through, and the ledger. */
import { creditUses } from '#config/plans/credits.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** In the order in which they are spent. */
export const grantKinds = ['allowance', 'operator', 'purchased'] as const
export type GrantKind = (typeof grantKinds)[number]

const grantSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(grantKinds),
  /** Millionths of a credit, as everywhere here. */
  amountUcr: z.int().min(1),
  remainingUcr: z.int().min(0),
  /** The month that an allowance is of, such as `2026-11`. */
  period: z.string().optional(),
  grantedAt: z.int(),
  /** From then on what is left is gone; null is never. */
  expiresAt: z.int().nullable(),
  note: z.string(),
  /** Who granted it for the operator: the id of a user; empty for the operator's key and the service itself. */
  grantedBy: z.string(),
  /** Counts up with every grant of the organization. */
  number: z.int(),
})

export type CreditGrant = Immutable<z.infer<typeof grantSchema>>

export const creditGrants = defineRecord<CreditGrant>({ name: 'credit_grant', schema: grantSchema })

const whole = z.string().regex(/^\d+$/)

const accountSchema = z.strictObject({
  /** That of the organization. */
  id: z.string(),
  /** Used beyond all grants; the next grant pays it. */
  owedUcr: z.int().min(0),
  /** What of the use is less than a millionth of a credit, in the parts that its price counts in. */
  remainders: z.strictObject({ traffic: whole, storage: whole }),
  /** The last month whose allowance was granted. */
  grantedMonth: z.string(),
  /** Grants that there ever were. */
  grants: z.int(),
  /** What could be spent since the balance last grew, of which alerts are shares. */
  baseUcr: z.int().min(0),
  /** The last of the alerts that was given of it, in percent; 0 for none. */
  alerted: z.int(),
})

/** One of each organization. Every write that changes its grants replaces it, so that none decides on what is not so any more. */
export type CreditAccount = Immutable<z.infer<typeof accountSchema>>

export const creditAccounts = defineRecord<CreditAccount>({ name: 'credit_account', schema: accountSchema })

export const entryReasons = [...creditUses, 'grant', 'expire', 'adjust'] as const
export type EntryReason = (typeof entryReasons)[number]

const entrySchema = z.strictObject({
  id: z.string(),
  reason: z.enum(entryReasons),
  /** What the balance changes by. */
  deltaUcr: z.int(),
  /** The grant that it was taken from or that it is; null is what was used beyond all grants, and what is by contract. */
  grantId: z.string().nullable(),
  /** The website that used it. */
  siteId: z.string().optional(),
  /** The day of the use (UTC), such as `2026-11-28`. */
  day: z.string(),
  /** Octets of traffic, or octets times milliseconds of storage. Of several entries for the same use, the first has it. */
  quantity: whole.optional(),
  at: z.int(),
})

/** A line of the ledger. Use of the present day adds up in one line for each website and grant; lines of days before never change. */
export type CreditEntry = Immutable<z.infer<typeof entrySchema>>

export const creditEntries = defineRecord<CreditEntry>({
  name: 'credit_entry',
  schema: entrySchema,
  unique: {
    use: ({ reason, siteId, day, grantId }) => (siteId === undefined ? [] : [[day, reason, siteId, grantId ?? '']]),
  },
})

export const creditKinds = [creditAccounts, creditGrants, creditEntries] as const
