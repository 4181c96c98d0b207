/** Incoming message: writes scanned content into the draft, keeps the head for the core, and refuses messages that break a limit. */
import type { Reading } from '#core/fairness/work.ts'
import { Refusal } from '#core/refusals.ts'
import type { ContentDraft } from '#core/submission/submission.ts'
import { isLooping, maxHeadOctets, wholeFaults } from '#core/submission/whole/whole-limits.ts'
import { DataScanner } from './data-scanner.ts'
import { NegativeReply, toSmtpReply } from './smtp-reply.ts'

// Smaller pieces are collected in a buffer, so that a client that sends single octets does not cause an object for each.
const pieceOctetsMin = 1024
const gatherOctets = 16 * 1024
/**
 * Maximum time for discarding content beyond the size limit, and the octets that are discarded in any case. Many clients read no reply
 * before they have sent the end.
 */
const discardingMs = 300_000
const discardedOctets = 64 * 1024 * 1024

export interface IntakeOptions {
  readonly draft: ContentDraft
  /** Charges the caller for the time of reading, and delays a caller that exceeds its share. */
  readonly reading: Reading
  readonly maxOctets: number
  readonly onDefect: (error: unknown) => void
}

export class MessageIntake {
  readonly draft: ContentDraft
  /** Octets received after DATA. They may include octets after the end. */
  wireOctets = 0
  /** The server is still processing the last piece, so the client is not the slow side. */
  waiting = false
  readonly #reading: Reading
  readonly #maxOctets: number
  readonly #onDefect: (error: unknown) => void
  readonly #scanner = new DataScanner()
  #refusal: NegativeReply | undefined
  #contentOctets = 0
  #tooLargeSince: number | undefined
  #head: Buffer[] = []
  #headOctets = 0
  #gathered: Buffer | undefined
  #gatheredOctets = 0
  #inFlight: Promise<void> | undefined
  #abandoned = false

  constructor({ draft, reading, maxOctets, onDefect }: IntakeOptions) {
    this.draft = draft
    this.#reading = reading
    this.#maxOctets = maxOctets
    this.#onDefect = onDefect
  }

  get eightBit(): boolean {
    return this.#scanner.eightBit
  }

  /** See `DataScanner`. */
  get bareLineEnd(): 'header' | 'body' | undefined {
    return this.#scanner.bareLineEnd
  }

  /**
   * Whether content beyond the size limit has reached the limit of octets or time for discarding. Reading on would only help an attack.
   * `now` is monotonic, in milliseconds.
   */
  isOverrun(now: number): boolean {
    if (this.#contentOctets <= this.#maxOctets) return false
    this.#tooLargeSince ??= now
    const most = Math.max(4 * this.#maxOctets, this.#maxOctets + discardedOctets)
    return this.wireOctets > most || now - this.#tooLargeSince >= discardingMs
  }

  /**
   * Scans the next chunk. Returns the offset after the final dot, or -1. If there is a promise, wait for it before the next call. Never
   * throws, never rejects.
   */
  feed(chunk: Buffer): number | Promise<number> {
    this.wireOctets += chunk.length
    const read = (): number | Promise<number> => this.#reading.run(() => this.#read(chunk))
    const pause = this.#reading.pace()
    if (!pause) return read()
    this.waiting = true
    return pause.then(read)
  }

  #read(chunk: Buffer): number | Promise<number> {
    const { content, end } = this.#scanner.scan(chunk)
    this.#contentOctets += content.length
    this.#check()
    const pending = this.#refusal ? undefined : this.#take(content, end >= 0)
    this.waiting = pending !== undefined
    if (!pending) return end
    return pending.then(() => {
      this.waiting = false
      return end
    })
  }

  /** Returns the refusal of a complete message, if any. */
  verdict(): NegativeReply | undefined {
    if (!this.#refusal && isLooping(this.head())) this.#refuse(new NegativeReply(554, '5.4.6', wholeFaults.loop))
    return this.#refusal
  }

  /** Returns the header block with the empty line after it, or the first 256 KiB. For a small message the buffer is a view, not a copy. */
  head(): Buffer {
    const { headerEnd } = this.#scanner
    const whole = this.#head.length === 1 && this.#head[0] ? this.#head[0] : Buffer.concat(this.#head)
    return whole.subarray(0, headerEnd < 0 ? maxHeadOctets : Math.min(headerEnd, maxHeadOctets))
  }

  /** Discards the message and its draft, after the write in progress has finished. */
  abandon(): void {
    if (this.#abandoned) return
    this.#abandoned = true
    this.#head = []
    this.#gathered = undefined
    const discarded = this.#inFlight ? this.#inFlight.then(() => this.draft.discard()) : this.draft.discard()
    discarded.catch(this.#onDefect)
  }

  #check(): void {
    if (this.#refusal) return
    if (this.#contentOctets > this.#maxOctets) {
      this.#refuse(new NegativeReply(552, '5.3.4', `The message exceeds the limit of ${this.#maxOctets} octets; make it smaller.`))
    } else if (this.#scanner.hasNul) {
      this.#refuse(new NegativeReply(550, '5.6.0', wholeFaults.nul))
    } else if (this.#scanner.hasLongLine) {
      this.#refuse(new NegativeReply(550, '5.6.0', wholeFaults.line))
    }
  }

  #refuse(refusal: NegativeReply): void {
    this.#refusal = refusal
    this.abandon()
  }

  #take(content: Buffer, last: boolean): Promise<void> | undefined {
    if (content.length >= pieceOctetsMin || (last && this.#gatheredOctets === 0)) {
      const gathered = this.#release()
      const pending = gathered ? this.#write(gathered) : undefined
      return pending ? pending.then(() => this.#write(content)) : this.#write(content)
    }
    const full = this.#gather(content)
    const rest = last ? this.#release() : undefined
    const pending = full ? this.#write(full) : undefined
    if (!rest) return pending
    return pending ? pending.then(() => this.#write(rest)) : this.#write(rest)
  }

  /** Appends a small piece to the buffer. If the buffer has no space for it, starts a new buffer and returns the full one. */
  #gather(content: Buffer): Buffer | undefined {
    const full = this.#gatheredOctets + content.length > gatherOctets ? this.#release() : undefined
    this.#gathered ??= Buffer.allocUnsafe(gatherOctets)
    this.#gatheredOctets += content.copy(this.#gathered, this.#gatheredOctets)
    return full
  }

  #release(): Buffer | undefined {
    const gathered = this.#gathered?.subarray(0, this.#gatheredOctets)
    this.#gathered = undefined
    this.#gatheredOctets = 0
    return gathered
  }

  #write(piece: Buffer): Promise<void> | undefined {
    if (piece.length === 0 || this.#abandoned) return undefined
    if (this.#wantsHead()) {
      this.#head.push(piece)
      this.#headOctets += piece.length
    }
    try {
      const written = this.draft.write(piece)
      this.#inFlight = written?.catch((error: unknown) => this.#failed(error))
      return this.#inFlight
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }

  #wantsHead(): boolean {
    const { headerEnd } = this.#scanner
    return this.#headOctets < (headerEnd < 0 ? maxHeadOctets : Math.min(headerEnd, maxHeadOctets))
  }

  #failed(error: unknown): void {
    this.#inFlight = undefined
    if (!(error instanceof Refusal)) this.#onDefect(error)
    this.#refuse(toSmtpReply(error))
  }
}
