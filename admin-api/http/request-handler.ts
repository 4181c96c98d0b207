/**
 * Handles a request in this order: load shedding, authentication, scope, path, query, body, handler. The first refusal is the response. No
 * byte of the body is read before authentication.
 */
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { CursorInvalid } from '#store/cursor.ts'
import { invalid, Refusal, refusals } from '#core/refusals.ts'
import { isUndecided, refusalOfDefect } from '#core/writes/store-refusal.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import type { SignedIn } from '#core/people/sign-in/sessions.ts'
import type { Work as CallerWork } from '#core/fairness/work.ts'
import { Answer, begun, type AnswerBody } from '../operation/answer.ts'
import { isFromLocalProxy } from './client-load.ts'
import { presentedCredential, principalOf, type Presented } from './principal.ts'
import { isStreamed, openBodyStream, type BodyWatch } from '../bodies/body-stream.ts'
import { challengeFor, corsReader, withoutSecrets, type BodyLimits, type CredentialRequest } from '../credentials/credentials.ts'
import { deadlineSecondsOf, maxBodyBytesOf, workOf, type HandlerInput, type Operation } from '../operation/operation.ts'
import { queryObject } from './query.ts'
import { renderAnswer, renderJson, renderEmpty, renderRefusal, type AnswerFrame } from './rendering.ts'
import { announcesBody, ClientGone, discardRest, HeldBody, isThere, readAbsentBody, readJsonBody } from '../bodies/request-body.ts'
import { check } from '../bodies/validation.ts'
import type { HandledRequest, HandlerContext, Incoming } from './handler-context.ts'
import { bodyRefusals, checkBody, jsonBodyLimits, noBodyText } from './body-check.ts'

/** Maximum bytes discarded of an unread body before the connection is closed. */
const maxDiscardedBytes = 1_048_576
/** Only for the log: the client has disconnected. */
const statusOfGone = 499

type EndReason = 'deadline' | 'draining' | 'client gone' | 'broken'

export class RequestHandler implements HandledRequest {
  readonly operation: Operation
  /** On the clock of `monotonic`. */
  deadlineAt: number
  readonly #context: HandlerContext
  readonly #incoming: Incoming
  readonly #asked: CredentialRequest
  readonly #presented: Presented | undefined
  readonly #requestId: string
  readonly #startedAt: number
  readonly #work: CallerWork
  #aborter: AbortController | undefined
  #ended: EndReason | undefined
  #principal: Principal | undefined
  #operatorId: string | undefined
  #signedIn: SignedIn | undefined
  #bodyBytes = 0
  readonly #held: HeldBody
  readonly #answered = Promise.withResolvers<Response>()
  #given: unknown // the body as read, for operations that record invalid requests
  #leave: (() => void) | undefined
  #settle: ((response: Response) => void) | undefined
  #isHandling = false
  /** The handler is reading its body, so it cannot have written anything yet. */
  #isReading = false

  constructor(operation: Operation, incoming: Incoming, context: HandlerContext) {
    this.operation = operation
    this.#incoming = incoming
    const { req, remoteAddress, search } = incoming
    this.#asked = { method: req.method ?? '', path: (req.url ?? '').split('?', 1)[0] ?? '', headers: req.headers, search, remoteAddress }
    this.#presented = presentedCredential(operation, this.#asked)
    this.#context = context
    this.#requestId = context.nextRequestId()
    this.#startedAt = context.monotonic()
    const { operationId: kind, waits, isFree } = operation
    const isForwarded = isFromLocalProxy(remoteAddress, req.headers)
    this.#work = context.fairness.begin({ address: remoteAddress, isForwarded, kind, waits, isFree })
    this.#held = new HeldBody(incoming.res, this.#work)
    this.deadlineAt = this.#startedAt + deadlineSecondsOf(operation) * 1000
  }

  /** Handles the request; always resolves. */
  run(): Promise<Response> {
    this.#context.inFlight.add(this)
    this.#settle = this.#answered.resolve
    void this.#work.run(() => this.#answer())
    return this.answered
  }

  get answered(): Promise<Response> {
    return this.#answered.promise
  }

  get socket(): Socket {
    return this.#incoming.req.socket
  }

  /**
   * The handler of a writing operation has its complete input, so its write may have begun and only its outcome may be the response. No
   * deadline, disconnect or shutdown may report that nothing happened (architecture, promise 2).
   */
  get isCommitting(): boolean {
    return this.#isHandling && !this.#isReading && this.operation.method !== 'GET' && !this.operation.waits
  }

  /**
   * Aborts the handler's signal, which ends a wait or a request that exceeds its deadline. Unless the request is committing, the client of
   * such a request gets an error with `Retry-After`.
   */
  end(reason: 'deadline' | 'draining'): void {
    this.#ended ??= reason
    this.#aborter?.abort(new Error(reason))
    if (reason === 'deadline' && !this.isCommitting) this.#refuse(this.#interrupted())
  }

  /**
   * The connection contains invalid HTTP. Refuses a request that is still arriving; other requests are answered before the connection
   * closes.
   */
  breakOff(refusal: Refusal): void {
    this.#ended ??= 'broken'
    if (!this.#isHandling || this.#isReading) this.#refuse(refusal)
  }

  async #answer(): Promise<void> {
    try {
      if (this.#context.broken.has(this.socket)) this.#hangUp()
      const input = await this.#checkedInput()
      this.#isHandling = true
      const result = await this.#work.after(this.operation.handle(input))
      if (this.operation.waits) await this.#authenticateAgain()
      if (result instanceof Answer) await this.#work.after(begun(result, () => this.#settle === undefined))
      if (this.#settle) this.#respond(this.#render(result), undefined)
    } catch (error) {
      this.#fail(await this.#work.failed(await this.#counted(await this.#recorded(error))))
    }
  }

  /** Counts refused bodies against a credential with limits, since reading them costs as much as sending. */
  async #counted(error: unknown): Promise<unknown> {
    const limits = this.#bodyLimits()
    if (!this.#principal || !limits || !(error instanceof Refusal) || !bodyRefusals.has(error.code)) return error
    try {
      await limits.countRefused(this.#principal, this.#incoming.remoteAddress, this.#context.core)
      return error
    } catch (fault) {
      return fault
    }
  }

  /** Records invalid requests of authenticated callers if the operation wants it. */
  async #recorded(error: unknown): Promise<unknown> {
    const isMeant = this.#given !== undefined && error instanceof Refusal && error.code === 'validation_failed' && this.#settle
    if (!isMeant || !this.#principal) return error
    return this.operation.onInvalid?.(this.#principal, this.#given, error, this.#context.core).catch((failure: unknown) => failure)
  }

  async #checkedInput(): Promise<HandlerInput<unknown, unknown, unknown, Principal | undefined>> {
    const { operation } = this
    const { core } = this.#context
    const { req, res, remoteAddress, pathValues, search } = this.#incoming
    if (!operation.isFree) this.#leave = this.#context.clients.begin(req.socket, remoteAddress)
    if (!operation.bypassesLoadShedding) this.#context.admission.check(workOf(operation))
    operation.refuse?.(req.headers)
    if (operation.scope === 'operator') {
      await this.#authenticateAgain()
      await this.#takeTurn({ credentialId: 'operator', organizationId: 'operator' })
    } else if (operation.scope === 'person') {
      this.#signedIn = await this.#context.authenticatePerson(this.#asked)
      const { id } = this.#signedIn.user
      await this.#takeTurn({ credentialId: id, organizationId: id })
    } else if (operation.scope === 'none') {
      await this.#takeTurn(undefined)
    } else {
      this.#principal = await this.#authenticateCaller()
      await this.#takeTurn(this.#principal)
      if (operation.feature !== undefined) await this.#context.requireFlag(this.#principal, operation.feature)
      await this.#bodyLimits()?.admit(this.#principal, remoteAddress, this.#context.core)
      this.#assertOpen()
    }
    const params = check(operation.params, pathValues, 'path')
    const query = check(operation.query, search ? withoutSecrets(queryObject(search), operation) : {}, 'query')
    const isWhole = isThere(req)
    let body: unknown
    if (isStreamed(operation.body)) {
      const reading = { turns: this.#context.bodies, held: this.#held }
      body = openBodyStream(req, res, operation.body, maxBodyBytesOf(operation, core), this.#bodyWatch(), reading)
    } else if (operation.body) {
      const limits = { ...jsonBodyLimits(operation, this.#bodyLimits(), req.headers, core), ...this.#context.jsonLimits }
      const read = await this.#work.away(readJsonBody(req, limits, this.#context.bodies, this.#held))
      this.#bodyBytes = read.bytes
      if (!isWhole) await this.#authenticateAgain()
      if (operation.onInvalid) this.#given = read.value
      this.#assertOpen()
      body = await checkBody(operation, read.value, this.#principal, core)
    } else if (operation.method !== 'GET') {
      await readAbsentBody(req, this.#context.bodies, this.#held, noBodyText(operation))
      if (!isWhole) await this.#authenticateAgain()
      this.#assertOpen()
    }
    const signal = () => this.#signal()
    return {
      ...{ core, params, query, body },
      bodyBytes: this.#bodyBytes,
      principal: this.#principal,
      requestId: this.#requestId,
      headers: req.headers,
      headOnly: req.method === 'HEAD',
      remoteAddress,
      authenticateAgain: () => this.#authenticateAgain(),
      operatorId: this.#operatorId,
      signedIn: this.#signedIn,
      get signal() {
        return signal()
      },
    }
  }

  /** Waits while the caller exceeds its share of the service. */
  async #takeTurn(caller: Pick<Principal, 'credentialId' | 'organizationId'> | undefined): Promise<void> {
    if (caller) this.#work.belongsTo(caller)
    const turn = this.#work.turn()
    if (turn) await this.#work.after(turn).then(() => this.#authenticateAgain())
    if (turn && this.#incoming.res.destroyed) this.#hangUp() // the client has disconnected
    this.#assertOpen()
  }

  /** Repeats authentication after a wait, since the credential may have expired or been revoked in the meantime. */
  async #authenticateAgain(): Promise<void> {
    if (this.operation.scope === 'operator') this.#operatorId = await this.#context.authenticateOperator(this.#asked)
    else if (this.#signedIn) this.#signedIn = await this.#context.authenticatePerson(this.#asked)
    else if (this.#principal) this.#principal = await this.#authenticateCaller()
  }

  async #authenticateCaller(): Promise<Principal> {
    const principal = await principalOf(this.operation, this.#asked, this.#presented, this.#context)
    return this.operation.method === 'GET' ? principal : { ...principal, address: this.#incoming.remoteAddress }
  }

  #bodyLimits(): BodyLimits | undefined {
    return this.#presented?.credential.limits
  }

  /** Tracks whether a streaming handler still reads its body; it must not write before the body is complete. */
  #bodyWatch(): BodyWatch {
    return {
      began: () => {
        if (this.#ended !== undefined) throw new ClientGone()
        this.#isReading = true
      },
      ended: async () => {
        await this.#authenticateAgain()
        this.#assertOpen()
        this.#isReading = false
      },
    }
  }

  /** The connection was already refused for invalid HTTP, so its further requests must not run. */
  #hangUp(): never {
    this.socket.destroy()
    throw new ClientGone()
  }

  /** Throws after a response was sent: the handler must not run then. */
  #assertOpen(): void {
    if (this.#settle) return
    this.#held.release()
    throw new ClientGone()
  }

  /** Created on demand: most handlers never use it. */
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
    if ('kind' in response) return renderEmpty(status, this.#frame())
    if (this.#context.checkAnswers) response.parse(result)
    return renderJson(result, status, this.#frame())
  }

  /** Logs a streamed response that fails during sending. It can no longer be refused; the client sees the connection close. */
  #watch(body: AnswerBody): void {
    if (!(body instanceof Readable)) return
    const where = { requestId: this.#requestId, operationId: this.operation.operationId }
    body.once('error', (error) => {
      const isClientGone = 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
      if (!isClientGone) this.#context.events.failed(error, where)
    })
  }

  #fail(error: unknown): void {
    if (!this.#settle) return
    if (error instanceof Refusal) return this.#refuse(error)
    if (error instanceof CursorInvalid)
      return this.#refuse(invalid([{ path: 'cursor', message: 'is not a cursor of this list; start again without a cursor' }]))
    if (isUndecided(error)) this.socket.destroy()
    if (isUndecided(error) || this.#ended === 'client gone' || error instanceof ClientGone)
      return this.#respond(renderEmpty(statusOfGone, this.#frame()), undefined)
    if (this.#ended !== undefined) return this.#refuse(this.#interrupted())
    this.#context.events.failed(error, { requestId: this.#requestId, operationId: this.operation.operationId })
    this.#refuse(refusalOfDefect(error, this.#requestId))
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
    const own = this.operation.errorRenderer?.(refusal, headers)
    const asked = challengeFor(this.operation, refusal, this.#context.protectedResource, headers.authorization !== undefined)
    const response = own ? renderAnswer(own, refusals[refusal.code].http, this.#frame()) : renderRefusal(refusal, asked, this.#frame())
    this.#respond(response, refusal)
  }

  #respond(response: Response, refusal: Refusal | undefined): void {
    const { req } = this.#incoming
    this.#settle?.(response)
    this.#settle = undefined
    this.#context.inFlight.delete(this)
    this.#leave?.()
    this.#work.end()
    this.#held.release()
    if (!req.complete && announcesBody(req)) discardRest(req, maxDiscardedBytes)
    this.#context.events.answered({
      operationId: this.operation.operationId,
      method: req.method ?? '',
      status: response.status,
      code: refusal?.code,
      reason: refusal?.message,
      organizationId: this.#principal?.organizationId,
      durationMs: this.#context.monotonic() - this.#startedAt,
      requestId: this.#requestId,
      grantId: this.#principal?.credentialId,
    })
  }

  #frame(): AnswerFrame {
    const { req } = this.#incoming
    // A client that sent "Expect: 100-continue" may or may not send the body of a refused request, so the connection must close.
    const unclear = req.headers.expect !== undefined && !req.complete
    return {
      requestId: this.#requestId,
      closes: unclear || this.#ended === 'deadline' || this.#ended === 'broken' || this.#context.isDraining(),
      isPrivate: this.operation.scope !== 'none',
      headOnly: req.method === 'HEAD',
      isHttps: this.#context.isHttps,
      allowsAnyOrigin: this.operation.allowsAnyOrigin ?? false,
      cors: corsReader(this.operation, this.#asked),
    }
  }
}
