/** Scores mails of deliverability tests, a few concurrently. Interrupted scores are repeated after the next start. */
import { Change, decode, encode } from '#store/change.ts'
import { readWholeContent } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { pack, unpack, within } from '#store/tuple.ts'
import type { Clock } from '../clock.ts'
import { WorkLoop } from '../work-loop.ts'
import { inspectReportKey, inspectTests, pendingScoreKey, pendingScoresKey, setPendingScore } from './inspect-test.ts'
import type { InspectScore, InspectScorer } from './report.ts'
import { transact } from '../writes/transact.ts'

export interface InspectScoringOptions {
  readonly database: Database
  readonly clock: Clock
  readonly scorer: InspectScorer & AsyncDisposable
  readonly onError: (error: unknown, testId: string) => void
}

const most = 4
const unreadable = 'The mail could not be checked.'
/** Maximum number of tries for a mail that terminates the process. */
const maxTries = 3

export class InspectScoring {
  readonly #options: InspectScoringOptions
  readonly #busy = new Map<string, Promise<void>>()
  readonly #rounds: WorkLoop

  constructor(options: InspectScoringOptions) {
    this.#options = options
    this.#rounds = new WorkLoop({ clock: options.clock, round: () => this.#startAll(), onError: (error) => options.onError(error, '') })
  }

  /** Scores pending mails. Called after a mail arrived and at startup. */
  wake(): void {
    this.#rounds.wake()
  }

  /** Aborts scores in progress; they stay pending for the next start. */
  async stop(): Promise<void> {
    const stopped = this.#rounds.stop()
    await this.#options.scorer[Symbol.asyncDispose]()
    await stopped
    await Promise.all(this.#busy.values())
  }

  async #startAll(): Promise<void> {
    for await (const { key, value } of this.#options.database.kv.range(within(pendingScoresKey))) {
      while (this.#busy.size >= most) await Promise.race(this.#busy.values())
      if (this.#rounds.stopping) return
      const [, , organizationId = '', id = ''] = unpack(key).map(String)
      if (this.#busy.has(id)) continue
      const work = this.#score(organizationId, id, decode<number>(value))
        .catch((error: unknown) => this.#options.onError(error, id))
        .finally(() => this.#busy.delete(id))
      this.#busy.set(id, work)
    }
  }

  async #score(organizationId: string, id: string, tries: number): Promise<void> {
    const { database, scorer } = this.#options
    const key = pendingScoreKey(organizationId, id)
    // the row can be read before another score of it finishes
    if (!(await database.kv.get(pack(key)))) return
    await database.commit(setPendingScore(new Change(), organizationId, id, tries + 1))
    const mail = (await database.get(inspectTests, { organizationId }, id))?.record.mail
    const score: InspectScore =
      tries >= maxTries || !mail
        ? { ok: false, problem: unreadable, error: new Error(`the mail of ${id} ended the process ${tries} times`) }
        : await scorer.score(await readWholeContent(database, organizationId, mail.content), mail.session)
    if (this.#rounds.stopping && !score.ok) return
    if (!score.ok && score.error !== undefined) this.#options.onError(score.error, id)
    await this.#store(organizationId, id, score)
  }

  async #store(organizationId: string, id: string, score: InspectScore): Promise<void> {
    const { database } = this.#options
    await transact(database, { organizationId }, async (change) => {
      change.delete(pendingScoreKey(organizationId, id))
      const stored = await change.get(inspectTests, id)
      if (stored && score.ok) {
        const { score: points, grade, unanswered = [] } = score.report
        const result = { score: points, grade, ...(unanswered.length > 0 && { isPartial: true }) }
        change.rewrite(inspectTests, organizationId, stored, { ...stored.record, result })
        change.set(inspectReportKey(organizationId, id), encode(score.report))
      } else if (stored && !score.ok) change.rewrite(inspectTests, organizationId, stored, { ...stored.record, problem: score.problem })
    })
  }
}
