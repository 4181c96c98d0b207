/** A mail on its way in: its beginning is kept for whoever reads reports, and all of it goes to the postmaster when it is for them. */
import type { ArrivalFacts, RoutedMail } from '#core/inbound-routes/intake.ts'
import type { ContentDraft } from '#core/submission/submission.ts'
import type { BoxMail } from './postmaster-box.ts'

/** Reports say what they have to say before the message they return, so that more is never needed. */
const keptOctetsMax = 512 * 1024

export class MailDraft implements ContentDraft {
  size = 0
  readonly #box: BoxMail | undefined
  readonly #routed: RoutedMail | undefined
  #kept: Uint8Array[] = []
  #room = keptOctetsMax

  constructor(box: BoxMail | undefined, routed: RoutedMail | undefined) {
    this.#box = box
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
    if (this.#routed) return this.#writeBoth(chunk)
    return this.#box?.write(chunk)
  }

  async #writeBoth(chunk: Uint8Array): Promise<void> {
    await this.#routed?.write(chunk)
    await this.#box?.write(chunk)
  }

  /** The mail, or its first `keptOctetsMax`. */
  get kept(): Buffer {
    return Buffer.concat(this.#kept)
  }

  /** Puts the mail into the box; resolves when it is durable. */
  async deliver(): Promise<void> {
    await this.#box?.deliver()
  }

  /** Hands the mail to its routes; resolves with the ids of the messages when they are durable. */
  async route(facts: ArrivalFacts): Promise<readonly string[]> {
    return (await this.#routed?.commit(facts)) ?? []
  }

  async discard(): Promise<void> {
    this.#kept = []
    await this.#routed?.discard()
    await this.#box?.discard()
  }
}
