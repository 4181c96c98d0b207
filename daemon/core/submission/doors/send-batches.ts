/** Sends up to 100 messages of one request. Each is a separate send with its own result. */
import type { Principal } from '../../access/principal/principal.ts'
import { invalid, Refusal, type FieldProblem } from '../../refusals.ts'
import { isUndecided, storeRefusal } from '../../writes/store-refusal.ts'
import type { Accept } from '../accept/accept.ts'
import type { RefusedSend, RefusedSends } from '../accept/refused-sends.ts'
import type { Acceptance } from '../submission.ts'
import type { Prepared, SendMessages, SendOrder, WholeOrder } from './send-messages.ts'

export const maxBatch = 100

export interface SendBatchOptions {
  readonly accept: Accept
  readonly sendMessages: SendMessages
  readonly refusedSends: RefusedSends
  /** Called with an internal error that prevented an acceptance. */
  readonly onError: (error: unknown) => void
}

/** One message of the request. Parsing it may take a millisecond. */
export interface BatchMessage {
  /** Returns the order. Throws `validation_failed` if it is invalid. */
  readonly order: () => SendOrder | WholeOrder
  /** Returns the readable fields of an invalid message. */
  readonly refused: () => RefusedSend
}

export interface Batch {
  readonly messages: readonly BatchMessage[]
  /** Sends nothing unless every message passes all checks. */
  readonly isStrict: boolean
  /** Derives an idempotency key for each message without one. */
  readonly idempotencyKey: string | undefined
  /** The response names only the first accepted message; the other traces refer to it. */
  readonly hasOneId?: boolean
}

export type BatchResult = Acceptance | Refusal

/** A problem that prevents a strict batch, with the index of its message. */
interface Failure {
  readonly cause: unknown
  readonly index: number
}

/** Messages accepted concurrently; they share the store's syncs. */
const width = 8
/** Maximum number of reported problems, as for a single message. */
const maxProblems = 20

export class SendBatches {
  readonly #options: SendBatchOptions

  constructor(options: SendBatchOptions) {
    this.#options = options
  }

  /**
   * Returns the results in the order of the messages, after all messages are on disk. Throws the refusal of a strict batch, and stores
   * nothing of it.
   */
  async send(principal: Principal, batch: Batch): Promise<readonly BatchResult[]> {
    if (batch.isStrict) return this.#strict(principal, batch)
    if (!batch.hasOneId) return each(batch.messages, async (message, i) => this.#sent(principal, batch, message, i))
    return this.#afterFirst(principal, batch)
  }

  /** Sends one message after the other until one is accepted, then the rest, which refer to it. */
  async #afterFirst(principal: Principal, batch: Batch): Promise<readonly BatchResult[]> {
    const results: BatchResult[] = []
    for (const [i, message] of batch.messages.entries()) {
      const result = await this.#sent(principal, batch, message, i)
      results.push(result)
      if (result instanceof Refusal) continue
      const rest = batch.messages.slice(i + 1)
      return [...results, ...(await each(rest, async (one, j) => this.#sent(principal, batch, one, i + 1 + j, result.traceId)))]
    }
    return results
  }

  async #sent(principal: Principal, batch: Batch, message: BatchMessage, index: number, answeredId?: string): Promise<BatchResult> {
    const { accept, sendMessages } = this.#options
    const result = await this.#resultOf(async () => {
      const prepared = await sendMessages.prepare(principal, orderOf(batch, message, index))
      return 'repeated' in prepared ? prepared : accept.accept(answeredBy(prepared, answeredId))
    })
    return this.#recorded(principal, message, result)
  }

  /**
   * Checks all messages, then accepts them. Counters such as a budget are only checked on acceptance and may still refuse some messages.
   */
  async #strict(principal: Principal, batch: Batch): Promise<readonly BatchResult[]> {
    const failed: Failure[] = []
    const prepared = await each(batch.messages, async (message, index) =>
      this.#prepared(principal, batch, message, index).catch((cause: unknown) => void failed.push({ cause, index })),
    )
    const ready = prepared.filter((one) => one !== undefined)
    if (failed.length > 0) {
      await Promise.all(ready.map(async (one) => ('draft' in one ? one.draft.discard() : undefined)))
      throw await this.#whole(principal, batch, failed)
    }
    const answeredId = batch.hasOneId ? ready[0]?.traceId : undefined
    return each(ready, async (one) =>
      'draft' in one ? this.#resultOf(() => this.#options.accept.accept(answeredBy(one, answeredId))) : one,
    )
  }

  async #prepared(principal: Principal, batch: Batch, message: BatchMessage, index: number): Promise<Acceptance | Prepared> {
    const { accept, sendMessages } = this.#options
    const prepared = await sendMessages.prepare(principal, orderOf(batch, message, index))
    if ('repeated' in prepared) return prepared
    try {
      const earlier = await accept.earlier(prepared)
      if (earlier) await prepared.draft.discard()
      else await accept.check(prepared)
      return earlier ?? prepared
    } catch (error) {
      await prepared.draft.discard()
      throw error
    }
  }

  /** Returns the error of a strict batch: an internal error, else all validation problems, else the first other refusal. */
  async #whole(principal: Principal, { messages }: Batch, failed: readonly Failure[]): Promise<unknown> {
    const problems: FieldProblem[] = []
    let other: Refusal | undefined
    for (const { cause, index } of failed.toSorted((a, b) => a.index - b.index)) {
      if (!(cause instanceof Refusal)) return cause
      const message = messages[index]
      if (message) await this.#recorded(principal, message, cause)
      if (cause.code === 'validation_failed') problems.push(...problemsOf(cause, index))
      else other ??= ofMessage(cause, index)
    }
    return problems.length > 0 ? invalid(problems.slice(0, maxProblems)) : other
  }

  /** Records a trace for an invalid message, as for a single send. */
  async #recorded(principal: Principal, message: BatchMessage, result: BatchResult): Promise<BatchResult> {
    if (!(result instanceof Refusal) || result.code !== 'validation_failed') return result
    return this.#resultOf(() => this.#options.refusedSends.record(principal, message.refused(), result))
  }

  /** Turns an error into the result of this message, because other messages of the batch may be on disk. */
  async #resultOf(act: () => Promise<BatchResult>): Promise<BatchResult> {
    try {
      return await act()
    } catch (error) {
      if (error instanceof Refusal) return error
      if (isUndecided(error)) throw error
      this.#options.onError(error)
      return (
        storeRefusal(error) ?? new Refusal('internal_error', 'The service failed to take this message; send it again.', { cause: error })
      )
    }
  }
}

/** Adds the id that the response returns for this message, if it is the id of another message. */
function answeredBy(prepared: Prepared, answeredId: string | undefined): Prepared {
  const { labels, traceId } = prepared
  if (answeredId === undefined || answeredId === traceId || !labels?.dialect) return prepared
  return { ...prepared, labels: { ...labels, dialect: { ...labels.dialect, answeredId } } }
}

/** Derives a key with a NUL character, which callers cannot send, so that it differs from the keys of single messages. */
function orderOf({ idempotencyKey }: Batch, message: BatchMessage, index: number): SendOrder | WholeOrder {
  const order = message.order()
  if (idempotencyKey === undefined || order.idempotencyKey !== undefined) return order
  return { ...order, idempotencyKey: `${idempotencyKey}\0${String(index)}` }
}

function problemsOf({ message, details }: Refusal, index: number): readonly FieldProblem[] {
  const at = `messages[${String(index)}]`
  const fields = details?.['fields'] as readonly FieldProblem[] | undefined
  if (!fields) return [{ path: at, message }]
  return fields.map(({ path, message: fault }) => ({ path: path === 'body' ? at : `${at}.${path}`, message: fault }))
}

const ofMessage = (refusal: Refusal, index: number): Refusal => {
  const { code, message, nextAction, details, retryAfterSeconds } = refusal
  return new Refusal(code, `messages[${String(index)}]: ${message}`, {
    ...{ nextAction, details: { ...details, index }, cause: refusal },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

/** Runs `act` for up to `width` items at a time, in order, each in a separate turn of the event loop. */
async function each<T, R>(all: readonly T[], act: (one: T, index: number) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  const [first] = all
  if (first !== undefined && all.length === 1) return [await act(first, 0)]
  const rest = all.entries()
  const work = async (): Promise<void> => {
    for (const [i, one] of rest) {
      await new Promise(setImmediate)
      results[i] = await act(one, i)
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, all.length) }, work))
  return results
}
