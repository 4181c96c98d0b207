/** Suppressions: addresses that get no mail from an organization. Spec "Suppression". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { foldAddress } from '../../addresses.ts'

/** How an entry came about. */
export const suppressionSources = ['manual', 'import', 'bounce', 'complaint', 'unsubscribe'] as const
export type SuppressionSource = (typeof suppressionSources)[number]

const schema = z.strictObject({
  id: z.string(),
  /** Folded, see `foldEmail`; unique in the organization. */
  email: z.string(),
  reason: z.string().nullable(),
  projectId: z.string().nullable(),
  source: z.enum(suppressionSources),
  /** From then on it suppresses nothing; null is never. Milliseconds since the epoch. */
  expiresAt: z.int().nullable(),
  /** The same time as in the id, so that entries by id are entries by time. */
  createdAt: z.int(),
  /** Others called for it too since the report that made it: it stays when that report turns out to be wrong. */
  isConfirmed: z.literal(true).optional(),
})

/** An entry of the list. It belongs to the organization; the project only says where it came from. */
export type Suppression = Immutable<z.infer<typeof schema>>

/** It follows from what was reported, and not from anybody's decision. */
export const isAutomatic = ({ source }: Pick<Suppression, 'source'>): boolean => source === 'bounce' || source === 'complaint'

export const suppressions = defineRecord<Suppression>({
  name: 'suppression',
  schema,
  unique: { email: ({ email }) => [[email]] },
  isOftenEmpty: true,
  isTracked: true,
})

/** An address as the list holds it: in lower case, and composed characters alike (RFC 6532 §3.1); domains are A-labels already. */
export const foldEmail = (address: string): string => foldAddress(address).normalize('NFC')

/** It suppresses at this time. */
export const isInForce = ({ expiresAt }: Pick<Suppression, 'expiresAt'>, nowMs: number): boolean => expiresAt === null || expiresAt > nowMs
