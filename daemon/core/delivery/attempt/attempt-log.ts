/** What of an attempt under way is durable: its start, the word of recipients as it becomes known, and its end as a whole. */
import { Change } from '#store/change.ts'
import type { Database } from '#store/database.ts'
import {
  dropAttempt,
  writeAttempt,
  writeProgress,
  writeWhole,
  type AttemptRecord,
  type RecipientReport,
} from '../../trace/attempt-record.ts'

/** Which attempt it is, and when it began. */
export type AttemptName = Pick<AttemptRecord, 'number' | 'startedAt'>

export class AttemptLog {
  readonly name: AttemptName
  readonly #database: Database
  readonly #organizationId: string
  readonly #traceId: string
  #isStarted = false
  #rows = 0

  constructor(database: Database, organizationId: string, traceId: string, name: AttemptName) {
    this.name = name
    this.#database = database
    this.#organizationId = organizationId
    this.#traceId = traceId
  }

  /** Makes durable that the attempt has begun at `place`, or, when that is, what has become known of recipients since. */
  record(place: Omit<AttemptRecord, keyof AttemptName | 'state'>, recipients?: readonly RecipientReport[]): Promise<unknown> {
    const change = new Change()
    if (!this.#isStarted) {
      this.#isStarted = true
      writeAttempt(change, this.#organizationId, this.#traceId, { ...this.name, ...place, state: 'started', recipients })
    } else if (recipients)
      writeProgress(change, this.#organizationId, this.#traceId, { number: this.name.number, row: ++this.#rows, recipients })
    return this.#database.commit(change)
  }

  /** Adds to the write that the attempt goes with its trace, which was deleted meanwhile: its start may have been written after that. */
  drop(change: Change): Change {
    return dropAttempt(change, this.#organizationId, this.#traceId, this.name.number, this.#rows)
  }

  /** Adds the attempt as it ended to the write that its end makes. */
  end(change: Change, record: Omit<AttemptRecord, keyof AttemptName>): Change {
    return writeWhole(change, this.#organizationId, this.#traceId, { ...this.name, ...record }, this.#rows)
  }
}
