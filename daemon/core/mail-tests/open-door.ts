/** The SMTP door of a mail test: every client gets in, with any login or with none, as programs under test have settings of their own. */
import type { SmtpDoor, SmtpLogin } from '../submission/doors/smtp-door.ts'

export class OpenDoor implements SmtpDoor {
  readonly #door: SmtpDoor
  #guest: SmtpLogin | undefined

  constructor(door: SmtpDoor) {
    this.#door = door
  }

  get guest(): SmtpLogin | undefined {
    return this.#guest
  }

  /** From now on everyone submits by this login. */
  async openWith(username: string, password: string): Promise<void> {
    this.#guest = await this.#door.login(username, password, '127.0.0.1')
  }

  async login(username: string, password: string, remoteAddress: string): Promise<SmtpLogin> {
    return this.#guest ?? this.#door.login(username, password, remoteAddress)
  }

  checkOpen(): void {
    this.#door.checkOpen()
  }
}
