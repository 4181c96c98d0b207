/**
 * Mail that follows from a write: it stands in that write and is handed over right after it, or by the next start when a crash
 * came between. Handing it over twice makes one mail.
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

  /** Adds the mail to the write, where mail of the service would leave now; `wake` follows the commit. */
  async add(change: Change, to: string, { subject, text, html }: MailText): Promise<void> {
    const { database, clock, mail } = this.#options
    if (!(await mail.isReady())) return
    change.set([...rowsPrefix, database.newId('mail', clock.now())], encode({ to, subject, text, html } satisfies Row))
  }

  /** Hands over all that waits, in the background; one hand-over at a time, so that none meets a mail that another has in hand. */
  wake(): void {
    this.#options.background.run(() => this.#turns.run('', () => this.#handOver()))
  }

  async #handOver(): Promise<void> {
    const { database, mail } = this.#options
    for await (const { key, value } of database.kv.range(within(rowsPrefix))) {
      const row = unpack(key)
      const { to, ...text } = decode<Row>(value)
      // a service that sends no mail any more forgets what waits, as it does with everything else that it would have said
      if (await mail.isReady()) await mail.send(to, text, String(row.at(-1)))
      await database.commit(new Change().delete(row))
    }
  }
}
