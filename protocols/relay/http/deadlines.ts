/** Timeouts of the steps of a request, in milliseconds. A timeout starts with its step; received bytes do not extend it. */
import { openingDeadlines, type OpeningDeadlines } from '../../outbound/dial.ts'

export interface HttpDeadlines extends OpeningDeadlines {
  /** Sending the request. `bodyPer16KiB` is added for each 16 KiB. */
  readonly body: number
  readonly bodyPer16KiB: number
  /** From the last byte of the request to the status line and header of the answer. */
  readonly header: number
  /** From the header to the end of the answer. */
  readonly answer: number
  /** Time until an unused connection is closed. It is short, because a request is lost if the host has just closed the connection. */
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
