/**
 * The mailbox of the people who run the service (RFC 5321 §4.5.1): a Maildir, which every mail program reads. Nothing of it
 * is a tenant's, so it is no record of the store.
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
/** As the Maildir of qmail has it, for files that are complete. */
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

  /** A mail on its way in; `prefix` holds the header fields that go before it. By the sender and the octets it is known again. */
  openMail(sender: string, prefix: string): BoxMail {
    return new BoxMail(this, sender, prefix)
  }

  /** An empty file under `tmp`. Throws a refusal when the mailbox is full: whoever reads it must make room. */
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

  /** Moves a file that is on disk to where mail programs look, unless a mail with that digest is there: then it was sent again. */
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

  /** Of the mails, read or not. */
  async #names(): Promise<string[]> {
    return (await Promise.all(['new', 'cur'].map((part) => readdir(join(this.#folder, part))))).flat()
  }
}

/** One mail for the box. Nothing is on disk before the first octet, and nothing in the box before `deliver`. */
export class BoxMail {
  readonly #box: PostmasterBox
  readonly #prefix: string
  /** By which a mail is known that is sent again: who sent it, and what. */
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

  /** Resolves when the mail is in the box and durable. */
  async deliver(): Promise<void> {
    const opened = this.#opened
    if (!opened) throw new Error('a mail without an octet')
    await opened.file.sync()
    await opened.file.close()
    await this.#box.deliver(opened.name, this.#digest.digest('hex').slice(0, 32), this.#octets)
    this.#opened = undefined
  }

  /** Safe to call at any time; a mail that was delivered stays. */
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

/** The size that stands in the name of a Maildir++ file, zero where it does not. */
const sizeIn = (name: string): number => Number(/,S=(\d{1,15})/.exec(name)?.[1] ?? 0)
