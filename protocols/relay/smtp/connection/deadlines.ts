/** Timeouts of the steps of a dialog, in milliseconds. A timeout starts with its step; received bytes do not extend it. */
import { openingDeadlines, type OpeningDeadlines } from '../../../outbound/dial.ts'

export interface Deadlines extends OpeningDeadlines {
  readonly greeting: number
  /** From a command to the end of its reply. */
  readonly command: number
  /** Additional time for each 16 KiB of content. The base is `command`. */
  readonly bodyPer16KiB: number
  /** From the final dot to the end of its reply. */
  readonly dataEnd: number
  /** Time until an unused connection is closed. */
  readonly idle: number
  /** Time for the peer to close the connection after QUIT. */
  readonly goodbye: number
}

export const standardDeadlines: Deadlines = {
  ...openingDeadlines,
  greeting: 20_000,
  command: 60_000,
  bodyPer16KiB: 1_000,
  dataEnd: 120_000,
  idle: 30_000,
  goodbye: 2_000,
}
