/** A scorer with a verdict and a time controlled by the test. */
import type { InspectReport, InspectScore, InspectScorer, InspectSession } from '#core/inspect/report.ts'

export const someReport: InspectReport = {
  ...{ score: 83, grade: 'B', caps: [], requirements: [], mail: { from: 'Shop <shop@example.com>', subject: 'Hello' } },
  checks: [],
}

export class ScriptedScorer implements InspectScorer, AsyncDisposable {
  /** Mails that are being scored, as text, each with a function that ends it. */
  readonly open: { readonly text: string; readonly session: InspectSession; readonly end: (score: InspectScore) => void }[] = []
  /** The immediate verdict, if set. */
  answer: InspectScore | undefined
  scored = 0

  score(raw: Uint8Array, session: InspectSession): Promise<InspectScore> {
    this.scored += 1
    if (this.answer) return Promise.resolve(this.answer)
    const { promise, resolve } = Promise.withResolvers<InspectScore>()
    this.open.push({ text: Buffer.from(raw).toString('latin1'), session, end: resolve })
    return promise
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { end } of this.open) end({ ok: false, problem: 'The service is shutting down.' })
  }
}
