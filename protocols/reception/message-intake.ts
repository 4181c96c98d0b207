/** One message on its way in: what was scanned goes into the draft, the core keeps its beginning, and what cannot be taken is refused. */
import type { Reading } from '#core/fairness/work.ts'
import { Refusal } from '#core/refusals.ts'
import type { ContentDraft } from '#core/submission/submission.ts'
import { isLooping, maxHeadOctets, wholeFaults } from '#core/submission/whole/whole-limits.ts'
import { DataScanner } from './data-scanner.ts'
import { NegativeReply, toSmtpReply } from './smtp-reply.ts'

// Clients that send octet by octet must not make us keep an object for each: smaller pieces are gathered first.
const pieceOctetsMin = 1024
const gatherOctets = 16 * 1024
/** What comes beyond the limit is read and thrown away for this long, and this much at least: many clients read no reply before the end. */
const discardingMs = 300_000
const discardedOctets = 64 * 1024 * 1024

export interface IntakeOptions {
  readonly draft: ContentDraft
  /** Charges the caller for the time of reading, and slows down a caller beyond its share. */
  readonly reading: Reading
  readonly maxOctets: number
  readonly onDefect: (error: unknown) => void
}

export class MessageIntake {
  readonly draft: ContentDraft
  /** Octets the client sent after DATA, including what may follow the end. */
  wireOctets = 0
  /** The last piece is not read or not written yet, so that it is not the client who is slow. */
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
   * The client goes on so far or so long beyond the limit that reading to the end would only serve an attack. `now` is monotonic, in
   * milliseconds.
   */
  isOverrun(now: number): boolean {
    if (this.#contentOctets <= this.#maxOctets) return false
    this.#tooLargeSince ??= now
    const most = Math.max(4 * this.#maxOctets, this.#maxOctets + discardedOctets)
    return this.wireOctets > most || now - this.#tooLargeSince >= discardingMs
  }

  /** Takes the next chunk. The result is the offset after the final dot, or -1; a promise asks to wait. Never throws, never rejects. */
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

  /** What speaks against the message, once it is complete. */
  verdict(): NegativeReply | undefined {
    if (!this.#refusal && isLooping(this.head())) this.#refuse(new NegativeReply(554, '5.4.6', wholeFaults.loop))
    return this.#refusal
  }

  /** The header block with the empty line after it, or the first 256 KiB. Of a small message this is a view, not a copy. */
  head(): Buffer {
    const { headerEnd } = this.#scanner
    const whole = this.#head.length === 1 && this.#head[0] ? this.#head[0] : Buffer.concat(this.#head)
    return whole.subarray(0, headerEnd < 0 ? maxHeadOctets : Math.min(headerEnd, maxHeadOctets))
  }

  /** Forgets everything, once what is being written is written; nothing of the message remains. */
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
      this.#refuse(new NegativeReply(552, '5.3.4', `The message is larger than the ${this.#maxOctets} octets allowed; make it smaller.`))
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

  /** Adds a small piece to the gathered ones. Returns a buffer that became full. */
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
