/** SMTP login of a mail test: every client is accepted with any login or no login, because programs under test have their own settings. */
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

  /** Uses this login for all later clients. */
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
