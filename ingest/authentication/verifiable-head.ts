/** Whether signatures over a header may be verified: mailauth puts folded lines together at a cost that grows with their square. */

export interface HeadLimits {
  /** Of the header block. */
  readonly maxOctets: number
}

/** Mail of thousands of recipients, one on a line, has fewer. */
export const maxHeadLines = 5000

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** What is too much about the header of a mail; undefined when nothing is. Looks at `maxOctets` octets at most. */
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
