/** Sends up to a hundred messages of one request: each is a send of its own, with its own result. */
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
  /** Is notified of a defect that kept one message from being accepted. */
  readonly onError: (error: unknown) => void
}

/** One message as the caller gave it. Reading it may take a millisecond. */
export interface BatchMessage {
  /** Throws `validation_failed` where it is wrong. */
  readonly order: () => SendOrder | WholeOrder
  /** What of it can be read where it is wrong. */
  readonly refused: () => RefusedSend
}

export interface Batch {
  readonly messages: readonly BatchMessage[]
  /** Nothing is sent unless every message passes each check. */
  readonly isStrict: boolean
  /** Stands for one key of each message that has none. */
  readonly idempotencyKey: string | undefined
  /** The answer names the first accepted message alone; the traces of the others refer to it. */
  readonly hasOneId?: boolean
}

export type BatchResult = Acceptance | Refusal

/** What keeps a strict batch from being sent, and in which message. */
interface Failure {
  readonly cause: unknown
  readonly index: number
}

/** So many share the syncs of the store. */
const width = 8
/** As a request of one message names them. */
const maxProblems = 20

export class SendBatches {
  readonly #options: SendBatchOptions

  constructor(options: SendBatchOptions) {
    this.#options = options
  }

  /** The results in the order of the messages, each when it is on disk. Throws the refusal of a strict batch, of which nothing is kept. */
  async send(principal: Principal, batch: Batch): Promise<readonly BatchResult[]> {
    if (batch.isStrict) return this.#strict(principal, batch)
    if (!batch.hasOneId) return each(batch.messages, async (message, i) => this.#sent(principal, batch, message, i))
    return this.#afterFirst(principal, batch)
  }

  /** One after the other until a message is accepted, and then the rest, which refer to it. */
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

  /** What only counts when a message is accepted, such as a budget, can still refuse some. */
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

  /** The one error of a strict batch: a defect, or everything that is wrong in its messages, or the first other refusal. */
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

  /** A message that is wrong leaves a trace, like a request of one. */
  async #recorded(principal: Principal, message: BatchMessage, result: BatchResult): Promise<BatchResult> {
    if (!(result instanceof Refusal) || result.code !== 'validation_failed') return result
    return this.#resultOf(() => this.#options.refusedSends.record(principal, message.refused(), result))
  }

  /** Others of the batch may be on disk, so that what is wrong with one is said of it alone. */
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

/** The message with the id that the answer of its request names, where that is the id of another message. */
function answeredBy(prepared: Prepared, answeredId: string | undefined): Prepared {
  const { labels, traceId } = prepared
  if (answeredId === undefined || answeredId === traceId || !labels?.dialect) return prepared
  return { ...prepared, labels: { ...labels, dialect: { ...labels.dialect, answeredId } } }
}

/** Other than a caller can write, so that no key of a single message is the same. */
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

/** Some at once, begun in their order, each in a turn of the event loop of its own. */
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
