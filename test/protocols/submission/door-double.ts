/** An in-memory core: one user, messages in an array, and any answer that a test needs. */
import type { Reading } from '#core/fairness/work.ts'
import { Refusal } from '#core/refusals.ts'
import type { SmtpDoor, SmtpLogin, SmtpMessage } from '#core/submission/doors/smtp-door.ts'
import type { Acceptance, ContentDraft } from '#core/submission/submission.ts'

export const username = 'user'
export const password = 'secret'
/** Does not charge the caller. */
export const freely: Reading = { run: (read) => read(), pace: () => undefined }
/** `\0user\0secret` */
export const plainToken = 'AHVzZXIAc2VjcmV0'
export const traceId = '6f1c7f0e-6c0a-4b7e-9d0e-1f2a3b4c5d6e'

export class DraftDouble implements ContentDraft {
  readonly pieces: Uint8Array[] = []
  size = 0
  discarded = false
  readonly #onWrite: () => void | Promise<void>

  constructor(onWrite: () => void | Promise<void> = () => undefined) {
    this.#onWrite = onWrite
  }

  write(chunk: Uint8Array): void | Promise<void> {
    this.pieces.push(chunk)
    this.size += chunk.length
    return this.#onWrite()
  }

  async discard(): Promise<void> {
    this.discarded = true
    this.pieces.length = 0
  }

  get content(): Buffer {
    return Buffer.concat(this.pieces)
  }
}

/** Accepted messages. */
export interface Taken extends SmtpMessage {
  readonly content: Buffer
}

export class DoorDouble implements SmtpDoor {
  readonly taken: Taken[] = []
  readonly drafts: DraftDouble[] = []
  readonly logins: { readonly username: string; readonly remoteAddress: string }[] = []
  maxMessageBytes = 1_000_000
  outcome: Acceptance['outcome'] = 'relayed'
  /** Errors that a test sets to be thrown. */
  notOpen: Error | undefined
  loginFails: Error | undefined
  senderFails: Error | undefined
  submitFails: Error | undefined
  turnFails: Error | undefined
  /** `submit` waits for this promise. */
  held: Promise<void> | undefined
  onWrite: () => void | Promise<void> = () => undefined
  onSubmit: () => void = () => undefined

  checkOpen(): void {
    if (this.notOpen !== undefined) throw this.notOpen
  }

  async login(user: string, secret: string, remoteAddress: string): Promise<SmtpLogin> {
    this.logins.push({ username: user, remoteAddress })
    if (this.loginFails !== undefined) throw this.loginFails
    if (user !== username || secret !== password) throw new Refusal('unauthorized', 'User name or password is wrong.')
    return {
      credentialId: 'crd_1',
      username,
      maxMessageBytes: () => this.maxMessageBytes,
      checkMailFrom: (address) => this.#checkMailFrom(address),
      turn: () => this.turnFails && Promise.reject(this.turnFails),
      openDraft: () => this.#openDraft(),
      openReading: () => freely,
      submit: (message) => this.#submit(message),
    }
  }

  #checkMailFrom(address: string): void {
    if (this.senderFails !== undefined) throw this.senderFails
    if (address.endsWith('@denied.test')) throw new Refusal('sender_not_allowed', `You may not send as ${address}.`)
  }

  #openDraft(): DraftDouble {
    const draft = new DraftDouble(() => this.onWrite())
    this.drafts.push(draft)
    return draft
  }

  async #submit(message: SmtpMessage): Promise<Acceptance> {
    this.onSubmit()
    await this.held
    if (this.submitFails !== undefined) throw this.submitFails
    this.taken.push({ ...message, content: Buffer.from((message.draft as DraftDouble).content) })
    return { traceId, outcome: this.outcome, repeated: false }
  }
}
