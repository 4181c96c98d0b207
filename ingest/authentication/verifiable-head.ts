/** Whether signatures over a header may be verified: mailauth puts folded lines together at a cost that grows with their square. */

export interface HeadLimits {
  /** Of the header block. */
  readonly octetsMax: number
}

/** Mail of thousands of recipients, one on a line, has fewer. */
export const headLinesMax = 5000

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** What is too much about the header of a mail; undefined when nothing is. Looks at `octetsMax` octets at most. */
export function excessOf(raw: Uint8Array, { octetsMax }: HeadLimits): 'octets' | 'lines' | undefined {
  let lines = 0
  for (let start = 0; start <= octetsMax;) {
    const end = raw.indexOf(lineFeed, start)
    const isLast = end === -1 || end === start || (end === start + 1 && raw[start] === carriageReturn)
    if (isLast) return end === -1 && raw.length > octetsMax ? 'octets' : undefined
    if (++lines > headLinesMax) return 'lines'
    start = end + 1
  }
  return 'octets'
}
