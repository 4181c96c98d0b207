/** How long each step of a dialog may take, in milliseconds. A deadline counts from the start of its step; no byte renews it. */
import { openingDeadlines, type OpeningDeadlines } from '../../../outbound/dial.ts'

export interface Deadlines extends OpeningDeadlines {
  readonly greeting: number
  /** From a command to the end of its reply. */
  readonly command: number
  /** For the content: `command`, and this much more for each further 16 KiB. */
  readonly bodyPer16KiB: number
  /** From the final dot to the end of its reply. */
  readonly dataEnd: number
  /** How long an unused connection is kept. */
  readonly idle: number
  /** How long the peer may take to close after QUIT. */
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
