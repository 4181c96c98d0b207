/** Credits on the wire: numbers with up to six decimals, as strings. Spec "Limits" 15. */
import * as z from 'zod'
import { toCredits, ucrPerCredit } from '#config/plans/credits.ts'
import { entryReasons, grantKinds, type CreditEntry, type CreditGrant } from '#core/billing/credits/credit.ts'
import { alertPercents } from '#core/billing/credits/credit-book.ts'
import type { CreditState } from '#core/billing/credits/credits.ts'
import { encoder } from '../fields/codec.ts'
import { id, line } from '../fields/text.ts'
import { timeInput, wireTime } from '../fields/time.ts'

const credits = z.string().meta({ description: 'Credits with up to six decimals. One credit is one rappen.' })

/** Exact, since it never computes with a fractional number. */
const toUcr = (text: string): number => {
  const [whole = '', decimals = ''] = text.split('.')
  return Number(whole) * ucrPerCredit + Number(decimals.padEnd(6, '0'))
}

const grantShape = z
  .object({
    id: z.string(),
    kind: z.enum(grantKinds).meta({ description: 'Allowances are spent first, then grants of the operator, then purchases.' }),
    amount: credits,
    remaining: credits,
    granted_at: wireTime,
    expires_at: wireTime.nullable().meta({ description: 'null means never.' }),
    note: z.string(),
  })
  .meta({ id: 'CreditGrant' })

export const creditGrant = encoder(grantShape).from<CreditGrant>({
  amount: ({ amountUcr }) => toCredits(amountUcr),
  remaining: ({ remainingUcr }) => toCredits(remainingUcr),
})

const stateShape = z
  .object({
    balance_credits: z
      .string()
      .meta({ description: 'The sum of the remaining credits of all grants; below 0 if more was used than granted.' }),
    is_unlimited: z.boolean().meta({ description: 'Usage is recorded but costs no credits.' }),
    has_credit: z.boolean().meta({ description: 'Whether websites are served. Mail and forms also work without credits.' }),
    alert_percent: z
      .union([z.literal(0), ...alertPercents.map((percent) => z.literal(percent))])
      .meta({ description: 'Highest threshold of used credits reached since the balance last grew, in percent; 0 means less than 80.' }),
    grants: z.array(grantShape).meta({ description: 'Grants with remaining credits, in the order of spending.' }),
  })
  .meta({ id: 'Credits' })

export const creditState = encoder(stateShape).from<CreditState>({
  balance_credits: ({ balanceUcr }) => toCredits(balanceUcr),
  alert_percent: ({ alertPercent }) => alertPercent as 0 | 80 | 95 | 100,
  grants: ({ grants }) => grants.map(creditGrant.encode),
})

export const creditEntry = encoder(
  z
    .object({
      id: z.string(),
      reason: z.enum(entryReasons),
      credits: z.string().meta({ description: 'Change of the balance.' }),
      grant_id: z.string().nullable().meta({ description: 'null for usage beyond all grants, and for usage by contract.' }),
      site_id: z.string().nullable(),
      day: z
        .string()
        .meta({ description: 'Day in UTC. Usage of the current day is added to its entries; entries of earlier days do not change.' }),
      quantity: z.string().nullable().meta({ description: 'Bytes of traffic; for storage, bytes times milliseconds.' }),
      at: wireTime,
    })
    .meta({ id: 'CreditEntry' }),
).from<CreditEntry>({
  credits: ({ deltaUcr }) => toCredits(deltaUcr),
  site_id: ({ siteId }) => siteId ?? null,
  quantity: ({ quantity }) => quantity ?? null,
})

/** At most a million francs in one grant. */
export const creditsGiven = z.strictObject({
  id,
  credits: z
    .string()
    .regex(/^(0|[1-9]\d{0,7})(\.\d{1,6})?$/, 'must be a number of credits below 100,000,000 such as "250" or "12.5"')
    .refine((text) => /[1-9]/.test(text), 'must be more than 0')
    .meta({ description: 'Up to six decimals.' }),
  kind: z.enum(['operator', 'purchased']).optional().meta({ description: 'Defaults to operator.' }),
  expires_at: timeInput.nullable().optional().meta({ description: 'Defaults to never.' }),
  note: line(500).optional(),
})

export interface GivenCredits {
  readonly credits: string
  readonly kind?: 'operator' | 'purchased' | undefined
  readonly expiresAt?: number | null | undefined
  readonly note?: string | undefined
}

export const toCreditsGiven = ({ credits: given, kind, expiresAt, note }: GivenCredits) => ({
  ...{ kind: kind ?? ('operator' as const), amountUcr: toUcr(given), note: note ?? '', expiresAt: expiresAt ?? null },
})
