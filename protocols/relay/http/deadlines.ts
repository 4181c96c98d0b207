/** How long each step of a request may take, in milliseconds. A deadline counts from the start of its step; no byte renews it. */
import { openingDeadlines, type OpeningDeadlines } from '../../outbound/dial.ts'

export interface HttpDeadlines extends OpeningDeadlines {
  /** Handing over the request: this, and `bodyPer16KiB` for each 16 KiB. */
  readonly body: number
  readonly bodyPer16KiB: number
  /** From the last byte of the request to the status line and header of the answer. */
  readonly header: number
  /** From there to the end of the answer. */
  readonly answer: number
  /** How long an unused connection is kept. Short, as what is sent on one that the host has just given up is lost. */
  readonly idle: number
}

export const standardHttpDeadlines: HttpDeadlines = {
  ...openingDeadlines,
  body: 60_000,
  bodyPer16KiB: 1_000,
  header: 120_000,
  answer: 30_000,
  idle: 10_000,
}
