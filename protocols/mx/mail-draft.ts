/**
 * Incoming mail of the MX server. Keeps the beginning in memory for the report reader. Writes the whole mail to the postmaster's mailbox,
 * or to the store for inbound routes and deliverability tests.
 */
import type { ArrivalFacts, RoutedMail } from '#core/inbound-routes/route-intake.ts'
import type { ContentDraft } from '#core/submission/submission.ts'
import type { Draft } from '#store/content.ts'
import type { BoxMail } from './postmaster-box.ts'

/** A report states its facts before the returned message, so the first octets are enough for the reader. */
const maxKeptOctets = 512 * 1024

/** Destinations of the whole mail; undefined if the mail is not for them. */
interface Destinations {
  /** Whether to read the beginning as a report. */
  readonly isRead: boolean
  readonly box: BoxMail | undefined
  readonly whole: Draft | undefined
  readonly routed: RoutedMail | undefined
}

export class MailDraft implements ContentDraft {
  size = 0
  readonly #box: BoxMail | undefined
  #whole: Draft | undefined
  readonly #routed: RoutedMail | undefined
  #kept: Uint8Array[] = []
  #room: number

  constructor({ isRead, box, whole, routed }: Destinations) {
    this.#room = isRead ? maxKeptOctets : 0
    this.#box = box
    this.#whole = whole
    this.#routed = routed
  }

  write(chunk: Uint8Array): void | Promise<void> {
    this.size += chunk.length
    if (this.#room > 0) {
      // a copy, because the chunk may be a small part of a large buffer
      const part = Buffer.from(chunk.subarray(0, this.#room))
      this.#kept.push(part)
      this.#room -= part.length
    }
    const waits = [this.#box?.write(chunk), this.#whole?.write(chunk), this.#routed?.write(chunk)].filter((wait) => wait !== undefined)
    if (waits.length > 0) return Promise.all(waits).then(() => undefined)
  }

  /** The mail or its first `maxKeptOctets`; empty unless `isRead`. */
  get kept(): Buffer {
    return Buffer.concat(this.#kept)
  }

  /** Delivers the mail to the postmaster's mailbox. Resolves when the mail is durable. */
  async deliver(): Promise<void> {
    await this.#box?.deliver()
  }

  /** Returns the draft for a deliverability test. From then on, `discard` leaves that draft alone. */
  takeWhole(): Draft | undefined {
    const whole = this.#whole
    this.#whole = undefined
    return whole
  }

  /** Delivers the mail to its routes. Resolves with the ids of the messages when they are durable. */
  async route(facts: ArrivalFacts): Promise<readonly string[]> {
    return (await this.#routed?.commit(facts)) ?? []
  }

  async discard(): Promise<void> {
    this.#kept = []
    await this.#routed?.discard()
    await this.#box?.discard()
    await this.takeWhole()?.discard()
  }
}
