/**
 * One request and its answer, in this order: load shedding, authentication, right, path, query, body, handler. The first
 * "no" wins, and nothing of the body is read before it is known who sends it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Feature } from '#config/features.ts'
import { CursorInvalid } from '#store/database.ts'
import { invalid, Refusal, refusals, type RefusalCode } from '#core/refusals.ts'
import { requireRight, type Scope } from '#core/access/scope.ts'
import { Answer, type AnswerBody } from './answer.ts'
import type { Authenticate } from './authentication.ts'
import { isStreamed, openBodyStream } from './body-stream.ts'
import { challenge, type ProtectedResource } from './challenge.ts'
import type { HandlerInput, Operation, PageKeys } from './operation.ts'
import { renderAnswer, renderJson, renderNothing, renderRefusal, type AnswerFrame, type PageReader } from './rendering.ts'
import { announcesBody, BodyMemory, ClientGone, discardRest, readAbsentBody, readJsonBody } from './request-body.ts'
import { check } from './validation.ts'

/** One line of the access log and one observation of the metrics. */
export interface Answered {
  readonly operationId: string
  readonly method: string
  readonly status: number
  /** Code of the refusal, where it was one. */
  readonly code: RefusalCode | undefined
  readonly durationMs: number
  readonly requestId: string
  readonly grantId: string | undefined
}

/** What the HTTP side reports while it works; implementations must not throw. */
export interface AdminApiEvents {
  answered(answered: Answered): void
  /** Something broke that is not a refusal: to be logged with its stack. */
  failed(error: unknown, where: { readonly requestId: string; readonly operationId: string }): void
  /** A connection beyond the limit was closed unanswered. */
  connectionDropped(): void
}

/** What all exchanges of a server share. */
export interface ExchangeSurroundings {
  readonly authenticate: Authenticate
  /** Throws `unauthorized` unless the request carries the operator's key, `not_found` where there is none. */
  readonly authenticateOperator: (headers: IncomingMessage['headers']) => void
  /** Throws `feature_disabled` while the flag is off for the organization. */
  readonly requireFlag: (scope: Scope, feature: Feature) => Promise<void>
  /** What callers without a good token are pointed to. */
  readonly protectedResource: ProtectedResource | undefined
  /** Throws `overloaded` while the service sheds load, and `storage_full` for what would write. */
  readonly admission: { check(work: 'reading' | 'writing'): void }
  readonly events: AdminApiEvents
  readonly bodyMemory: BodyMemory
  readonly depthMax: number
  readonly inFlight: Set<Exchange>
  readonly checkAnswers: boolean
  isDraining(): boolean
  nextRequestId(): string
}

/** The request as the router found it. */
export interface Incoming {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly remoteAddress: string
  readonly pathValues: Readonly<Record<string, string>>
  readonly search: URLSearchParams | undefined
}

const bodyBytesDefault = 65_536
/** Of a body nobody wants, this much is taken before the connection is cut. */
const discardedBytesMax = 1_048_576
/** Only for the log: nobody is there to see it. */
const statusOfGone = 499
const deadlineSecondsDefault = 30
const waitDeadlineSeconds = 130

type EndReason = 'deadline' | 'draining' | 'client gone'

export class Exchange {
  readonly operation: Operation
  /** On the clock of `performance.now()`. */
  readonly deadlineAt: number
  readonly #around: ExchangeSurroundings
  readonly #incoming: Incoming
  readonly #requestId: string
  readonly #startedAt = performance.now()
  #aborter: AbortController | undefined
  #ended: EndReason | undefined
  #scope: Scope | undefined
  #bodyBytes = 0
  #settle: ((response: Response) => void) | undefined

  constructor(operation: Operation, incoming: Incoming, around: ExchangeSurroundings) {
    this.operation = operation
    this.#incoming = incoming
    this.#around = around
    this.#requestId = around.nextRequestId()
    const seconds = operation.deadlineSeconds ?? (operation.waits ? waitDeadlineSeconds : deadlineSecondsDefault)
    this.deadlineAt = this.#startedAt + seconds * 1000
  }

  /** Runs the exchange; always resolves. */
  run(): Promise<Response> {
    this.#around.inFlight.add(this)
    const { promise, resolve } = Promise.withResolvers<Response>()
    this.#settle = resolve
    void this.#answer()
    return promise
  }

  /** Ends a wait, or a request that takes too long: the handler's signal aborts and the client is told to come back. */
  end(reason: 'deadline' | 'draining'): void {
    this.#ended ??= reason
    this.#aborter?.abort(new Error(reason))
    if (reason === 'deadline') this.#refuse(this.#interrupted())
  }

  async #answer(): Promise<void> {
    try {
      const input = await this.#checkedInput()
      const result = await this.operation.handle(input)
      if (this.#settle) this.#respond(this.#render(result), undefined)
    } catch (error) {
      this.#fail(error)
    }
  }

  async #checkedInput(): Promise<HandlerInput<unknown, unknown, unknown, Scope | undefined>> {
    const { operation } = this
    const { req, res, remoteAddress, pathValues, search } = this.#incoming
    if (!operation.alwaysAdmitted) this.#around.admission.check(operation.method === 'GET' || operation.waits ? 'reading' : 'writing')
    if (operation.right === 'operator') {
      this.#around.authenticateOperator(req.headers)
    } else if (operation.right !== 'none') {
      this.#scope = await this.#authenticate()
      this.#assertOpen()
      requireRight(this.#scope, operation.right)
      if (operation.feature !== undefined) await this.#around.requireFlag(this.#scope, operation.feature)
      this.#assertOpen()
    }
    const params = check(operation.params, pathValues, 'path')
    const query = check(operation.query, search ? queryObject(search) : {}, 'query')
    let body: unknown
    if (isStreamed(operation.body)) {
      body = openBodyStream(req, res, operation.body, operation.maxBodyBytes ?? bodyBytesDefault)
    } else if (operation.body) {
      const { maxBodyBytes: bytesMax = bodyBytesDefault, maxBodySetting: setting } = operation
      const pageMax = this.#scope?.publishableToken !== undefined ? operation.pageKeys?.maxBodyBytes : undefined
      const limits = { ...(pageMax === undefined ? { bytesMax, setting } : { bytesMax: pageMax }), depthMax: this.#around.depthMax }
      const read = await readJsonBody(req, res, limits, this.#around.bodyMemory)
      this.#bodyBytes = read.bytes
      this.#assertOpen()
      body = check(operation.body, read.value, 'body')
    } else if (operation.method !== 'GET') {
      await readAbsentBody(req, res, this.#around.bodyMemory, noBodyWords(operation))
      this.#assertOpen()
    }
    const signal = () => this.#signal()
    return {
      params,
      query,
      body,
      scope: this.#scope,
      requestId: this.#requestId,
      headers: req.headers,
      headOnly: req.method === 'HEAD',
      remoteAddress,
      get signal() {
        return signal()
      },
    }
  }

  #authenticate(): Promise<Scope> {
    const { req, remoteAddress } = this.#incoming
    const { pageKeys } = this.operation
    const key = pageKeys && this.#pageKey(pageKeys)
    if (pageKeys && key !== undefined) return pageKeys.authenticate(key, req.headers.origin)
    return this.#around.authenticate(req.headers, remoteAddress)
  }

  /** Whatever stands behind the prefix: that it is no key is for those to say who know keys. */
  #pageKey({ prefix }: PageKeys): string | undefined {
    const { authorization = '' } = this.#incoming.req.headers
    if (!/^bearer +/i.test(authorization)) return undefined
    const key = authorization.replace(/^bearer +/i, '').trimEnd()
    return key.startsWith(prefix) ? key : undefined
  }

  /** Pages read what concerns their keys, and the answers to a request without any; nothing that another key was given. */
  #reader(): PageReader | undefined {
    const { pageKeys } = this.operation
    if (!pageKeys) return undefined
    const { origin, authorization } = this.#incoming.req.headers
    const isTheirs = authorization === undefined || this.#pageKey(pageKeys) !== undefined
    return { origin: isTheirs && origin !== undefined ? pageKeys.readableFrom(origin) : undefined, requestHeaders: pageKeys.requestHeaders }
  }

  /** Once the client has been told to repeat its request, the handler must not run. */
  #assertOpen(): void {
    if (this.#settle) return
    this.#releaseBody()
    throw new ClientGone()
  }

  /** Made on demand: most handlers never look at it. */
  #signal(): AbortSignal {
    if (this.#aborter) return this.#aborter.signal
    const aborter = new AbortController()
    this.#aborter = aborter
    const { res } = this.#incoming
    const gone = () => {
      if (res.writableFinished) return
      this.#ended ??= 'client gone'
      aborter.abort(new ClientGone())
    }
    if (this.#ended !== undefined) aborter.abort(new Error(this.#ended))
    else if (res.destroyed) gone()
    else res.once('close', gone)
    return aborter.signal
  }

  #render(result: unknown): Response {
    const { response } = this.operation
    const status = this.operation.status ?? 200
    if (result instanceof Answer) this.#watch(result.body)
    if (result instanceof Answer) return renderAnswer(result, status, this.#frame())
    if ('kind' in response) return renderNothing(status, this.#frame())
    if (this.#around.checkAnswers) response.parse(result)
    return renderJson(result, status, this.#frame())
  }

  /** An answer that breaks off while it is sent can no longer be refused; the client sees the connection end, and the log tells why. */
  #watch(body: AnswerBody): void {
    if (!(body instanceof Readable)) return
    const where = { requestId: this.#requestId, operationId: this.operation.operationId }
    body.once('error', (error) => this.#around.events.failed(error, where))
  }

  #fail(error: unknown): void {
    if (!this.#settle) return
    if (error instanceof Refusal) return this.#refuse(error)
    if (error instanceof CursorInvalid)
      return this.#refuse(invalid([{ path: 'cursor', message: 'is not a cursor of this list; start again without one' }]))
    if (this.#ended === 'client gone' || error instanceof ClientGone)
      return this.#respond(renderNothing(statusOfGone, this.#frame()), undefined)
    if (this.#ended !== undefined) return this.#refuse(this.#interrupted())
    this.#around.events.failed(error, { requestId: this.#requestId, operationId: this.operation.operationId })
    this.#refuse(new Refusal('internal_error', `Something failed inside the service; when you report it, name ${this.#requestId}.`))
  }

  #interrupted(): Refusal {
    const message =
      this.#ended === 'draining'
        ? 'The service is restarting; repeat the request in a few seconds.'
        : 'The request was not finished in time; repeat it in a few seconds.'
    return new Refusal('overloaded', message, { retryAfterSeconds: 2 })
  }

  #refuse(refusal: Refusal): void {
    if (!this.#settle) return
    const { headers } = this.#incoming.req
    const own = this.operation.refusalAs?.(refusal, headers)
    const asked = challenge(refusal, this.#around.protectedResource, headers.authorization !== undefined)
    const response = own ? renderAnswer(own, refusals[refusal.code].http, this.#frame()) : renderRefusal(refusal, asked, this.#frame())
    this.#respond(response, refusal.code)
  }

  #respond(response: Response, code: RefusalCode | undefined): void {
    const { req } = this.#incoming
    this.#settle?.(response)
    this.#settle = undefined
    this.#around.inFlight.delete(this)
    this.#releaseBody()
    if (!req.complete && announcesBody(req)) discardRest(req, discardedBytesMax)
    this.#around.events.answered({
      operationId: this.operation.operationId,
      method: req.method ?? '',
      status: response.status,
      code,
      durationMs: performance.now() - this.#startedAt,
      requestId: this.#requestId,
      grantId: this.#scope?.grantId,
    })
  }

  #releaseBody(): void {
    this.#around.bodyMemory.release(this.#bodyBytes)
    this.#bodyBytes = 0
  }

  #frame(): AnswerFrame {
    const { req } = this.#incoming
    // A client that waits for "100 Continue" may or may not send the body of a refused request: the connection cannot go on.
    const unclear = req.headers.expect !== undefined && !req.complete
    return {
      requestId: this.#requestId,
      closes: unclear || this.#ended === 'deadline' || this.#around.isDraining(),
      isPrivate: this.operation.right !== 'none',
      headOnly: req.method === 'HEAD',
      openToPages: this.operation.openToPages ?? false,
      forPage: this.#reader(),
    }
  }
}

function noBodyWords({ query }: Operation): string {
  const names = Object.keys(query.shape)
  return `must be left out: this operation takes none${names.length === 0 ? '' : `; give ${names.join(' and ')} in the query`}`
}

/** A parameter given once is text, given more often a list. */
function queryObject(search: URLSearchParams): Record<string, string | string[]> {
  const query = Object.create(null) as Record<string, string | string[]>
  for (const [name, value] of search) {
    const before = query[name]
    query[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  return query
}
