/** Records of credits: grants with their remaining amount, the account that every change updates, and the ledger. */
import { creditUses } from '#config/plans/credits.ts'
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'

/** In the order of spending. */
export const grantKinds = ['allowance', 'operator', 'purchased'] as const
export type GrantKind = (typeof grantKinds)[number]

const grantSchema = z.strictObject({
  id: z.string(),
  kind: z.enum(grantKinds),
  /** Millionths of a credit, like all amounts in this file. */
  amountUcr: z.int().min(1),
  remainingUcr: z.int().min(0),
  /** Month of an allowance, such as `2026-11`. */
  period: z.string().optional(),
  grantedAt: z.int(),
  /** The remaining amount expires at this time; null for no expiry. */
  expiresAt: z.int().nullable(),
  note: z.string(),
  /** Id of the user who granted it for the operator; empty for the operator's key and the service itself. */
  grantedBy: z.string(),
  /** Increases with every grant of the organization. */
  number: z.int(),
})

export type CreditGrant = Immutable<z.infer<typeof grantSchema>>

export const creditGrants = defineRecord<CreditGrant>({ name: 'credit_grant', schema: grantSchema })

const whole = z.string().regex(/^\d+$/)

const accountSchema = z.strictObject({
  /** Id of the organization. */
  id: z.string(),
  /** Use beyond all grants; the next grant pays it. */
  owedUcr: z.int().min(0),
  /** Use below a millionth of a credit, in the units of its price. */
  remainders: z.strictObject({ traffic: whole, storage: whole }),
  /** The last month whose allowance was granted. */
  grantedMonth: z.string(),
  /** Number of all grants ever made. */
  grants: z.int(),
  /** Available credits after the last increase; alerts are shares of this amount. */
  baseUcr: z.int().min(0),
  /** The last reported alert in percent; 0 if no alert was reported. */
  alerted: z.int(),
})

/** One record for each organization. Every write that changes its grants replaces it, so that concurrent writes conflict. */
export type CreditAccount = Immutable<z.infer<typeof accountSchema>>

export const creditAccounts = defineRecord<CreditAccount>({ name: 'credit_account', schema: accountSchema })

export const entryReasons = [...creditUses, 'grant', 'expire', 'adjust'] as const
export type EntryReason = (typeof entryReasons)[number]

const entrySchema = z.strictObject({
  id: z.string(),
  reason: z.enum(entryReasons),
  /** Change of the balance. */
  deltaUcr: z.int(),
  /** Id of the charged or added grant. Null for use beyond all grants, and for use by contract. */
  grantId: z.string().nullable(),
  /** Id of the website that caused the use. */
  siteId: z.string().optional(),
  /** The day of the use (UTC), such as `2026-11-28`. */
  day: z.string(),
  /** Octets of traffic, or octets times milliseconds of storage. If a use has several entries, only the first has a quantity. */
  quantity: whole.optional(),
  at: z.int(),
})

/** Entry of the ledger. Use of the present day is summed in one entry for each website and grant; entries of past days never change. */
export type CreditEntry = Immutable<z.infer<typeof entrySchema>>

export const creditEntries = defineRecord<CreditEntry>({
  name: 'credit_entry',
  schema: entrySchema,
  unique: {
    use: ({ reason, siteId, day, grantId }) => (siteId === undefined ? [] : [[day, reason, siteId, grantId ?? '']]),
  },
})

export const creditKinds = [creditAccounts, creditGrants, creditEntries] as const
