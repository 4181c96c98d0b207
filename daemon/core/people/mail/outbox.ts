/**
 * Stores mail in the same write as the change that causes it, and sends it after the commit. After a crash in between, the next start sends
 * it. Each row has an idempotency key, so sending it twice creates one mail.
 */
import { Change, decode, encode } from '#store/change.ts'
import { globalKey } from '#store/record-kind.ts'
import { unpack, within } from '#store/tuple.ts'
import type { Core } from '../../core.ts'
import { KeyedMutex } from '../../keyed-mutex.ts'
import type { Background } from '../users/background-work.ts'
import type { MailText } from './mail-texts.ts'
import type { SystemMail } from './system-mail.ts'

export interface OutboxOptions extends Core {
  readonly mail: SystemMail
  readonly background: Background
}

interface Row extends MailText {
  readonly to: string
}

const rowsPrefix = globalKey('people.outbox')

export class Outbox {
  readonly #options: OutboxOptions
  readonly #turns = new KeyedMutex()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /**
   * Adds the mail to the write, and returns its id; undefined if mail of the service cannot be sent now. Call `wake` after the commit.
   */
  async add(change: Change, to: string, { subject, text, html }: MailText): Promise<string | undefined> {
    const { database, clock, mail } = this.#options
    if (!(await mail.isReady())) return undefined
    const id = database.newId('mail', clock.now())
    change.set([...rowsPrefix, id], encode({ to, subject, text, html } satisfies Row))
    return id
  }

  /** Sends all stored mail in the background. Runs are serialized, so that no two runs process the same mail. */
  wake(): void {
    this.#options.background.run(() => this.#turns.run('', () => this.#handOver()))
  }

  async #handOver(): Promise<void> {
    const { database, mail } = this.#options
    for await (const { key, value } of database.kv.range(within(rowsPrefix))) {
      const row = unpack(key)
      const { to, ...text } = decode<Row>(value)
      // if mail of the service was turned off, pending mail is discarded
      if (await mail.isReady()) await mail.send(to, text, String(row.at(-1)))
      await database.commit(new Change().delete(row))
    }
  }
}
