/** What was to be tracked of a message, and the outcome; as it is kept in the trace, and shown in its timeline. */
import * as z from 'zod'

/** Why a message goes as it was submitted, although it was to be tracked; each with its sentence. */
export const untrackedReasons = {
  plan: 'the plan does not include tracking',
  flag: 'tracking is turned off for this organization',
  no_public_url: 'the service has no public address for links; the operator can set POSTERN_BASE_URL',
  captured: 'a captured message stays as it was submitted',
  no_html: 'it has no HTML',
  signed: 'it is signed (multipart/signed), and a change would break the signature',
  encrypted: 'it is encrypted',
  pgp: 'it contains a PGP block',
  dkim_signed: 'it came with a DKIM signature, which a change would break',
  too_large: 'it has more than 1 MiB of HTML without embedded pictures, 8 MiB with them, or 1,000 links',
  charset: 'the charset of its HTML is unknown, or not a superset of ASCII',
  encoding: 'the transfer encoding of its HTML is unknown or broken',
  broken_mime: 'its MIME structure can be read in more than one way',
  failed: 'it could not be read in time',
} as const

export type UntrackedReason = keyof typeof untrackedReasons

/** The names of the reasons. */
export const untrackedReason = z.enum(Object.keys(untrackedReasons) as [UntrackedReason, ...UntrackedReason[]])

export interface TraceTracking {
  /** Links lead over this service. */
  readonly clicks: boolean
  /** How many do. */
  readonly links: number
  /** An image reports openings. */
  readonly opens: boolean
  /** Why not all is tracked that was asked for. */
  readonly off?: UntrackedReason | undefined
}

export const traceTracking = z.strictObject({
  clicks: z.boolean(),
  links: z.int(),
  opens: z.boolean(),
  off: untrackedReason.optional(),
})
