/**
 * Mailbox of the service's operators (RFC 5321 §4.5.1): a Maildir, which every mail program can read. It holds no mail of tenants, so it is
 * not part of the store.
 */
import { createHash, randomBytes, type Hash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '#core/clock.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'

export interface BoxLimits {
  readonly mails: number
  readonly octets: number
}

const usualLimits: BoxLimits = { mails: 2000, octets: 256 * 1024 * 1024 }
/** Unfinished files older than this are deleted, as in the Maildir of qmail. */
const unfinishedMs = 36 * 3_600_000

export class PostmasterBox {
  readonly #folder: string
  readonly #clock: Clock
  readonly #limits: BoxLimits

  constructor(folder: string, clock: Clock, limits: BoxLimits = usualLimits) {
    this.#folder = folder
    this.#clock = clock
    this.#limits = limits
  }

  /** Opens an incoming mail. `prefix` holds the header fields to add at its start. The sender and the content identify a repeated mail. */
  openMail(sender: string, prefix: string): BoxMail {
    return new BoxMail(this, sender, prefix)
  }

  /** Creates an empty file under `tmp`. Throws a refusal if the mailbox is full; an operator must then delete mails. */
  async begin(): Promise<{ readonly file: FileHandle; readonly name: string }> {
    for (const part of ['tmp', 'new', 'cur']) await mkdir(join(this.#folder, part), { recursive: true, mode: 0o700 })
    for (const name of await readdir(join(this.#folder, 'tmp')))
      if (this.#clock.now() - Number.parseInt(name, 10) > unfinishedMs) await this.forget(name)
    const names = await this.#names()
    const octets = names.reduce((sum, name) => sum + sizeIn(name), 0)
    if (names.length >= this.#limits.mails || octets >= this.#limits.octets)
      throw new NegativeReply(452, '4.2.2', 'The mailbox of the postmaster is full; please try again later.')
    const name = `${this.#clock.now()}.${randomBytes(8).toString('hex')}.postern`
    return { file: await open(join(this.#folder, 'tmp', name), 'wx', 0o600), name }
  }

  /** Moves a complete file to `new`. Deletes it instead if the mailbox has a mail with the same digest, because the mail was sent again. */
  async deliver(name: string, digest: string, octets: number): Promise<void> {
    if ((await this.#names()).some((other) => other.includes(`.${digest}.`))) return this.forget(name)
    const target = join(this.#folder, 'new')
    await rename(join(this.#folder, 'tmp', name), join(target, `${this.#clock.now()}.${digest}.postern,S=${octets}`))
    const folder = await open(target, 'r')
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  }

  async forget(name: string): Promise<void> {
    await rm(join(this.#folder, 'tmp', name), { force: true })
  }

  /** Returns the names of all mails, read and unread. */
  async #names(): Promise<string[]> {
    return (await Promise.all(['new', 'cur'].map((part) => readdir(join(this.#folder, part))))).flat()
  }
}

/** Mail for the mailbox. The first octet creates its file; `deliver` makes it visible. */
export class BoxMail {
  readonly #box: PostmasterBox
  readonly #prefix: string
  /** Hash of the sender and the content. It identifies a mail that is sent again. */
  readonly #digest: Hash
  #opened: { readonly file: FileHandle; readonly name: string } | undefined
  #octets = 0

  constructor(box: PostmasterBox, sender: string, prefix: string) {
    this.#box = box
    this.#prefix = prefix
    this.#digest = createHash('sha256').update(`${sender}\0`)
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (!this.#opened) {
      this.#opened = await this.#box.begin()
      await this.#append(Buffer.from(this.#prefix))
    }
    this.#digest.update(chunk)
    await this.#append(chunk)
  }

  /** Resolves when the mail is in the mailbox and durable. */
  async deliver(): Promise<void> {
    const opened = this.#opened
    if (!opened) throw new Error('a mail without an octet')
    await opened.file.sync()
    await opened.file.close()
    await this.#box.deliver(opened.name, this.#digest.digest('hex').slice(0, 32), this.#octets)
    this.#opened = undefined
  }

  /** Safe to call at any time. A delivered mail stays. */
  async discard(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    if (!opened) return
    await opened.file.close().catch(() => undefined)
    await this.#box.forget(opened.name)
  }

  async #append(octets: Uint8Array): Promise<void> {
    await this.#opened?.file.appendFile(octets)
    this.#octets += octets.length
  }
}

/** Returns the size in the name of a Maildir++ file, or zero without one. */
const sizeIn = (name: string): number => Number(/,S=(\d{1,15})/.exec(name)?.[1] ?? 0)
