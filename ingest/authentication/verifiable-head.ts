/** Decides whether signatures over a header may be verified. mailauth joins folded lines in quadratic time. */

export interface HeadLimits {
  /** Limit for the header block. */
  readonly maxOctets: number
}

/** Real mail has fewer lines, even with thousands of recipients, one on each line. */
export const maxHeadLines = 5000

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** The limit that the header block exceeds, or undefined. Reads at most `maxOctets` octets. */
export function excessOf(raw: Uint8Array, { maxOctets }: HeadLimits): 'octets' | 'lines' | undefined {
  let lines = 0
  for (let start = 0; start <= maxOctets;) {
    const end = raw.indexOf(lineFeed, start)
    const isLast = end === -1 || end === start || (end === start + 1 && raw[start] === carriageReturn)
    if (isLast) return end === -1 && raw.length > maxOctets ? 'octets' : undefined
    if (++lines > maxHeadLines) return 'lines'
    start = end + 1
  }
  return 'octets'
}
