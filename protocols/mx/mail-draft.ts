/**
 * A mail on its way in: its beginning is kept for whoever reads reports, and all of it goes to the postmaster or into the store when it is
 * for them, for inbound routes or for a deliverability test.
 */
import type { ArrivalFacts, RoutedMail } from '#core/inbound-routes/route-intake.ts'
import type { ContentDraft } from '#core/submission/submission.ts'
import type { Draft } from '#store/content.ts'
import type { BoxMail } from './postmaster-box.ts'

/** Reports say what they have to say before the message they return, so that more is never needed. */
const maxKeptOctets = 512 * 1024

/** Where all of a mail goes; undefined where it is not for them. */
interface Destinations {
  /** Its beginning is read as a report. */
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
      // a copy: the chunk may be a small part of a large buffer
      const part = Buffer.from(chunk.subarray(0, this.#room))
      this.#kept.push(part)
      this.#room -= part.length
    }
    const waits = [this.#box?.write(chunk), this.#whole?.write(chunk), this.#routed?.write(chunk)].filter((wait) => wait !== undefined)
    if (waits.length > 0) return Promise.all(waits).then(() => undefined)
  }

  /** The mail, or its first `maxKeptOctets`; empty when it is not read. */
  get kept(): Buffer {
    return Buffer.concat(this.#kept)
  }

  /** Puts the mail into the box; resolves when it is durable. */
  async deliver(): Promise<void> {
    await this.#box?.deliver()
  }

  /** Hands over what was written for a deliverability test; it is no longer discarded with the rest. */
  takeWhole(): Draft | undefined {
    const whole = this.#whole
    this.#whole = undefined
    return whole
  }

  /** Hands the mail to its routes; resolves with the ids of the messages when they are durable. */
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
