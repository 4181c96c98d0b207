/**
 * Choices of a consent form that the user continues with after a new sign-in. They are part of the address of the page. A MAC over the
 * user, the request and the choices prevents applications from adding choices to their links.
 */
import { timingSafeEqual } from 'node:crypto'
import type { SecretBox } from '../access/secret-box.ts'
import type { Clock } from '../clock.ts'

const keptMs = 3_600_000

export class KeptChoices {
  readonly #secrets: SecretBox
  readonly #clock: Clock

  constructor({ secrets, clock }: { readonly secrets: SecretBox; readonly clock: Clock }) {
    this.#secrets = secrets
    this.#clock = clock
  }

  /** Returns a text that gives the choices back for the same user and request, for an hour. */
  seal(userId: string, request: string, choices: string): string {
    const body = `${this.#clock.now() + keptMs}.${Buffer.from(choices).toString('base64url')}`
    return `${body}.${this.#mac(userId, request, body).toString('base64url')}`
  }

  /** Returns undefined for an expired text, and for a text of another user, another request or another origin. */
  open(userId: string, request: string, sealed: string): string | undefined {
    const [, body = '', until = '', choices = '', mac = ''] = /^((\d{1,15})\.([\w-]*))\.([\w-]{43})$/.exec(sealed) ?? []
    const isOurs = mac !== '' && timingSafeEqual(Buffer.from(mac, 'base64url'), this.#mac(userId, request, body))
    return isOurs && Number(until) > this.#clock.now() ? Buffer.from(choices, 'base64url').toString() : undefined
  }

  #mac(userId: string, request: string, body: string): Buffer {
    return this.#secrets.mac('consent choices', Buffer.from([userId, request, body].join('\0')))
  }
}
