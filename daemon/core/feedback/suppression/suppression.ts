/** Suppressions: addresses that get no mail from an organization. Spec "Suppression". */
import { defineRecord, type Immutable } from '#store/record-kind.ts'
import * as z from 'zod'
import { foldAddress } from '../../addresses.ts'

export const suppressionSources = ['manual', 'import', 'bounce', 'complaint', 'unsubscribe'] as const
export type SuppressionSource = (typeof suppressionSources)[number]

const schema = z.strictObject({
  id: z.string(),
  /** Folded, see `foldEmail`; unique in the organization. */
  email: z.string(),
  reason: z.string().nullable(),
  projectId: z.string().nullable(),
  source: z.enum(suppressionSources),
  /** Time when the entry expires, in milliseconds since the epoch; null means never. */
  expiresAt: z.int().nullable(),
  /** Equal to the time in the id, so that the order by id is the order by time. */
  createdAt: z.int(),
  /** Another report or a member confirmed the entry: it stays if its report turns out to be wrong. */
  isConfirmed: z.literal(true).optional(),
})

/** An entry of the suppression list. It applies to the whole organization; the project is only its origin. */
export type Suppression = Immutable<z.infer<typeof schema>>

/** Whether the entry results from a report and not from a person's decision. */
export const isAutomatic = ({ source }: Pick<Suppression, 'source'>): boolean => source === 'bounce' || source === 'complaint'

export const suppressions = defineRecord<Suppression>({
  name: 'suppression',
  schema,
  unique: { email: ({ email }) => [[email]] },
  isOftenEmpty: true,
  isTracked: true,
})

/** Returns the stored form of an address: lower case, with composed characters (RFC 6532 §3.1). Domains are already A-labels. */
export const foldEmail = (address: string): string => foldAddress(address).normalize('NFC')

export const isInForce = ({ expiresAt }: Pick<Suppression, 'expiresAt'>, nowMs: number): boolean => expiresAt === null || expiresAt > nowMs
