/** Tracking of a message as stored in the trace and shown in its timeline. */
import * as z from 'zod'

/** Why a message is sent without the requested tracking, as clauses. */
export const untrackedReasons = {
  plan: 'the plan does not include tracking',
  flag: 'tracking is turned off for this organization',
  no_public_url: 'the service has no public address for links; the operator can set POSTERN_BASE_URL',
  captured: 'a captured message is not modified',
  no_html: 'it has no HTML',
  signed: 'it is signed (multipart/signed), and a change would break the signature',
  encrypted: 'it is encrypted',
  pgp: 'it contains a PGP block',
  dkim_signed: 'it came with a DKIM signature, which a change would break',
  too_large: 'it has more than 1 MiB of HTML without embedded pictures, 8 MiB with them, or 1,000 links',
  charset: 'the charset of its HTML is unknown, or not a superset of ASCII',
  encoding: 'the transfer encoding of its HTML is unknown or broken',
  broken_mime: 'its MIME structure is ambiguous',
  failed: 'it could not be parsed in time',
} as const

export type UntrackedReason = keyof typeof untrackedReasons

/** The names of the reasons. */
export const untrackedReason = z.enum(Object.keys(untrackedReasons) as [UntrackedReason, ...UntrackedReason[]])

export interface TraceTracking {
  /** Links point to this service. */
  readonly clicks: boolean
  /** Number of such links. */
  readonly links: number
  /** An image reports opens. */
  readonly opens: boolean
  /** Why part of the requested tracking is off. */
  readonly off?: UntrackedReason | undefined
}

export const traceTracking = z.strictObject({
  clicks: z.boolean(),
  links: z.int(),
  opens: z.boolean(),
  off: untrackedReason.optional(),
})
