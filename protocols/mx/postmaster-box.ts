/**
 * The mailbox of the people who run the service (RFC 5321 §4.5.1): a Maildir, which every mail program reads. Nothing of it
 * is a tenant's, so it is no record of the store.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '#core/clock.ts'
import { NegativeReply } from '../reception/smtp-reply.ts'

export interface BoxLimits {
  readonly mails: number
  readonly octets: number
}

const usualLimits: BoxLimits = { mails: 2000, octets: 256 * 1024 * 1024 }

export class PostmasterBox {
  readonly #folder: string
  readonly #clock: Clock
  readonly #limits: BoxLimits

  constructor(folder: string, clock: Clock, limits: BoxLimits = usualLimits) {
    this.#folder = folder
    this.#clock = clock
    this.#limits = limits
  }

  /** A mail on its way in; `prefix` holds the header fields that go before it. */
  openMail(prefix: string): BoxMail {
    return new BoxMail(this, prefix)
  }

  /** An empty file under `tmp`. Throws a refusal when the mailbox is full: whoever reads it must make room. */
  async begin(): Promise<{ readonly file: FileHandle; readonly name: string }> {
    for (const part of ['tmp', 'new', 'cur']) await mkdir(join(this.#folder, part), { recursive: true, mode: 0o700 })
    const names = (await Promise.all(['new', 'cur'].map((part) => readdir(join(this.#folder, part))))).flat()
    const octets = names.reduce((sum, name) => sum + sizeIn(name), 0)
    if (names.length >= this.#limits.mails || octets >= this.#limits.octets)
      throw new NegativeReply(452, '4.2.2', 'The mailbox of the postmaster is full; please try again later.')
    const name = `${this.#clock.now()}.${randomBytes(8).toString('hex')}.postern`
    return { file: await open(join(this.#folder, 'tmp', name), 'wx', 0o600), name }
  }

  /** Moves a file that is on disk to where mail programs look. */
  async deliver(name: string, octets: number): Promise<void> {
    const target = join(this.#folder, 'new')
    await rename(join(this.#folder, 'tmp', name), join(target, `${name},S=${octets}`))
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
}

/** One mail for the box. Nothing is on disk before the first octet, and nothing in the box before `deliver`. */
export class BoxMail {
  readonly #box: PostmasterBox
  readonly #prefix: string
  #opened: { readonly file: FileHandle; readonly name: string } | undefined
  #octets = 0

  constructor(box: PostmasterBox, prefix: string) {
    this.#box = box
    this.#prefix = prefix
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (!this.#opened) {
      this.#opened = await this.#box.begin()
      await this.#append(Buffer.from(this.#prefix))
    }
    await this.#append(chunk)
  }

  /** Resolves when the mail is in the box and durable. */
  async deliver(): Promise<void> {
    const opened = this.#opened
    if (!opened) throw new Error('a mail without an octet')
    await opened.file.sync()
    await opened.file.close()
    await this.#box.deliver(opened.name, this.#octets)
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
