/** The MCP endpoint: reads requests of agents and returns responses of the protocol. Spec "Agent (MCP) tool surface". */
import assert from 'node:assert'
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import { OpenStreams } from '#core/live/open-streams.ts'
import { Refusal, refusals } from '#core/refusals.ts'
import { refusalOfDefect } from '#core/writes/store-refusal.ts'
import { accessToken } from '../credentials/credentials.ts'
import type { ProtectedResource } from '../credentials/challenge.ts'
import { envelope } from '../http/rendering.ts'
import { prefersPage } from '../http/negotiation.ts'
import { media, raw, type Answer } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { endpointPage } from './endpoint-page.ts'
import { acceptedTypes, bothTypes, inAcceptedType } from './accepted-type.ts'
import { corsOf, requireOwnAddress, type OwnAddresses } from './origins.ts'
import { ListChanges } from './list-changes.ts'
import { plainAnswers, plainCallOf, type PlainCall } from './plain-call.ts'
import { identityOf, mcpHandler, type ProtocolHandler, type ProtocolOptions } from './protocol.ts'
import { Cancellations } from './tools/cancellations.ts'
import { selectionOf, withinGrant } from './tools/selection.ts'
import type { Tool } from './tools/tool.ts'
import { ToolCalls, type Caller, type Course, type ToolCallsOptions } from './tools/tool-calls.ts'
import { listed } from './tools/tool-requests.ts'

export interface AgentEndpointOptions
  extends ToolCallsOptions, Pick<ProtocolOptions, 'version' | 'website' | 'resources' | 'organizationOf'> {
  /** Public address of the endpoint. */
  readonly url: string
  readonly resource: ProtectedResource
  /** Returns the principal of an access token. Throws `unauthorized`. */
  readonly authenticate: (token: string) => Promise<Principal>
  readonly own: OwnAddresses
  readonly maxBodyBytes: number
  readonly maxBodySetting: string
}

/** The longest wait of a tool plus 10 seconds. */
const deadlineSeconds = 130
/** The longest time that one connection listens to changes. */
const listenSeconds = 120
/** Error codes of JSON-RPC 2.0 §5.1: body that is not JSON, and the first code that a server may define. */
const parseError = -32_700
const serverError = -32_000
/** Headers that the package reads, in addition to `Accept`. */
const protocolHeaders = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id', 'mcp-session-id']

const query = z.strictObject({
  toolsets: z.string().max(400).optional(),
  readonly: z
    .enum(['0', '1', 'true', 'false'])
    .optional()
    .transform((text) => text === '1' || text === 'true'),
})

/** The MCP endpoint. `stop` ends its open connections. */
export class AgentEndpoint {
  readonly #options: AgentEndpointOptions
  readonly #closing = new AbortController()
  readonly #calls: ToolCalls
  readonly #plainAnswer: ReturnType<typeof plainAnswers>
  readonly #changes: ListChanges
  readonly #cancellations = new Cancellations()
  readonly #listening = new OpenStreams('subscriptions')
  #handler: Promise<ProtocolHandler> | undefined

  constructor(options: AgentEndpointOptions) {
    this.#options = options
    this.#plainAnswer = plainAnswers(identityOf(options))
    this.#calls = new ToolCalls(options)
    this.#changes = new ListChanges({
      clock: options.clock,
      listedFor: async (caller) => (await listed(options, caller)).map(({ binding }) => binding.name),
      onError: (error) => options.events.failed(error, { requestId: '', operationId: 'subscriptions/listen' }),
    })
  }

  /** Ends waiting calls and subscriptions; calls that write are completed. */
  async stop(): Promise<void> {
    this.#closing.abort(new Error('the service stops'))
    await this.#calls.settled()
    await (await this.#handler)?.close()
  }

  /** All tools, in the order of the list. */
  get tools(): readonly Tool[] {
    return this.#options.tools
  }

  operations(): readonly Operation[] {
    const { pathname } = new URL(this.#options.url)
    // the root of the service has another page
    return pathname === '/' ? [this.#requests(pathname)] : [this.#requests(pathname), this.#page(pathname)]
  }

  #requests(path: string): Operation {
    const { resource, authenticate, maxBodyBytes, maxBodySetting } = this.#options
    return operation({
      ...{ method: 'POST', path, operationId: 'callMcp', summary: 'Call the MCP endpoint', tags: ['mcp'], hiddenFromOpenApi: true },
      scope: 'api:read',
      refuse: (headers) => requireOwnAddress(headers, this.#options.own),
      credentials: [accessToken(resource, authenticate, corsOf(this.#options.own))],
      ...{ maxBodyBytes, maxBodySetting, deadlineSeconds },
      query,
      body: z.unknown(),
      response: media('application/json'),
      errorRenderer: protocolError,
      handle: async (request) => {
        const { principal, headers, query: narrowed, body, requestId, remoteAddress } = request
        const caller: Caller = {
          principal,
          client: { address: remoteAddress, origin: headers.origin, requestId },
          selection: withinGrant(selectionOf(narrowed, headers), principal.agent),
          protocolVersion: String(headers['mcp-protocol-version'] ?? ''),
          authenticateAgain: () => authenticate(bearerOf(headers)),
        }
        const plain = plainCallOf(headers, body)
        for (const name of plain ? [plain.name] : calledTools(body)) await this.#calls.requireReachable(caller, name)
        const accepted = acceptedTypes(headers)
        if (!accepted.events && (!accepted.json || isListening(body))) return notAcceptable(body)
        this.#refuseWhileClosing()
        const isRead = plain !== undefined && this.#calls.isReading(plain.name)
        if (!isRead) this.#cancellations.take(principal.credentialId, body)
        const answered = isRead ? this.#read(caller, plain, request) : this.#respond(caller, headers, body, request.signal)
        return inAcceptedType(await answered, accepted, Array.isArray(body))
      },
    })
  }

  #refuseWhileClosing(): void {
    if (this.#closing.signal.aborted)
      throw new Refusal('overloaded', 'The service is restarting; repeat the request.', { retryAfterSeconds: 2 })
  }

  async #read(caller: Caller, plain: PlainCall, request: Course): Promise<Answer> {
    const [closing, { name, given }] = [this.#closing.signal, plain]
    const course: Course = {
      get signal() {
        return AbortSignal.any([request.signal, closing])
      },
    }
    const result = await this.#calls.call(caller, name, given, course)
    assert(result, 'a tool that reads has its name')
    return raw(this.#plainAnswer(plain, result), { contentType: 'application/json' })
  }

  async #respond(caller: Caller, headers: IncomingHttpHeaders, body: unknown, signal: AbortSignal): Promise<Answer> {
    const { url, version, website, tools, resources, organizationOf, clock } = this.#options
    const [closing, calls, cancellations] = [this.#closing.signal, this.#calls, this.#cancellations]
    const onError = (): void => {} // reports only refused requests, which the client sees; calls report defects themselves
    this.#handler ??= mcpHandler({
      version,
      website,
      tools,
      resources,
      organizationOf,
      closing,
      calls,
      cancellations,
      clock,
      bus: this.#changes.bus,
      onError,
      onDefect: (error, { client: { requestId } }, operationId) => {
        this.#options.events.failed(error, { requestId, operationId })
        return refusalOfDefect(error, requestId)
      },
    })
    const handler = await this.#handler
    const given = protocolHeaders.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]] as [string, string]] : []))
    const ask = (until: AbortSignal): Promise<Response> => {
      const request = new Request(url, { method: 'POST', headers: [...given, ['accept', bothTypes]], signal: until })
      return this.#changes.of(caller, () => handler.answer(request, caller, body))
    }
    return answerOf(await (isListening(body) ? this.#listen(caller, signal, ask) : ask(signal)))
  }

  /**
   * Counts a listener until its stream ends, or until a response without a stream. The stream ends before the request deadline, and when
   * the connection or the service ends. Throws `rate_limit_exceeded` if the caller has too many open streams.
   */
  async #listen({ principal }: Caller, signal: AbortSignal, ask: (until: AbortSignal) => Promise<Response>): Promise<Response> {
    const leave = this.#listening.enter({ credentialId: principal.credentialId })
    const deadline = new AbortController()
    const timer = this.#options.clock.after(listenSeconds * 1000, () => deadline.abort())
    const end = (): void => {
      timer.cancel()
      leave()
    }
    const until = AbortSignal.any([signal, this.#closing.signal, deadline.signal])
    until.addEventListener('abort', end, { once: true })
    let answer: Response | undefined
    try {
      const given = await ask(until)
      if (given.body && isStream(given)) answer = new Response(given.body.pipeThrough(new TransformStream({ flush: end })), given)
      return answer ?? given
    } finally {
      if (!answer || until.aborted) end()
    }
  }

  #page(path: string): Operation {
    return operation({
      ...{
        method: 'GET',
        path,
        operationId: 'showMcp',
        summary: 'Show the page of the MCP endpoint',
        tags: ['mcp'],
        hiddenFromOpenApi: true,
      },
      scope: 'none',
      refuse: (headers) => requireOwnAddress(headers, this.#options.own),
      response: media('text/html'),
      handle: ({ headers }) => {
        if (prefersPage(headers)) return endpointPage(this.#options.url)
        throw new Refusal('method_not_allowed', 'This address accepts only POST requests.', { details: { allow: ['POST'] } })
      },
    })
  }
}

const bearerOf = ({ authorization = '' }: IncomingHttpHeaders): string => authorization.replace(/^bearer +/i, '').trimEnd()

const isListening = (body: unknown): boolean => (Object(body) as { readonly method?: unknown }).method === 'subscriptions/listen'

/** Returns the names of the tools that a request or batch calls. */
function calledTools(body: unknown): readonly string[] {
  return [body].flat().flatMap((message) => {
    const { method, params } = Object(message) as { readonly method?: unknown; readonly params?: unknown }
    const { name } = Object(params) as { readonly name?: unknown }
    return method === 'tools/call' && typeof name === 'string' ? [name] : []
  })
}

/** Returns the error for a client that accepts no available response type. */
function notAcceptable(body: unknown): Answer {
  const types = isListening(body) ? 'text/event-stream' : 'application/json or text/event-stream'
  return errorTo(body, serverError, `The response type is ${types}. Add it to the Accept header of the request.`, 406)
}

/** Returns a JSON-RPC error with the id of the request, if the request has an id. */
function errorTo(body: unknown, code: number, message: string, status = 200): Answer {
  const { id } = Object(body) as { readonly id?: unknown }
  const answer = { jsonrpc: '2.0', id: isRequestId(id) ? id : null, error: { code, message } }
  return raw(JSON.stringify(answer), { status, contentType: 'application/json' })
}

const isRequestId = (id: unknown): boolean => typeof id === 'string' || typeof id === 'number'

const isStream = ({ headers }: Response): boolean => headers.get('content-type')?.startsWith('text/event-stream') === true

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers, body } = response
  const allow = headers.get('allow')
  const own = allow === null ? {} : { allow }
  const contentType = headers.get('content-type') ?? 'application/json'
  if (body === null || !isStream(response)) return raw(await response.text(), { status, contentType, headers: own })
  // keeps proxies from buffering the events
  return raw(body, { status, contentType, headers: { ...own, 'x-accel-buffering': 'no', 'cache-control': 'no-store, no-transform' } })
}

/**
 * Writes a refusal as a JSON-RPC error without an id, since the request was not parsed. A missing token or scope is answered with a
 * challenge instead.
 */
function protocolError(refusal: Refusal): Answer | undefined {
  const { http } = refusals[refusal.code]
  if (http === 401 || refusal.code === 'insufficient_scope') return undefined
  const retry = refusal.retryAfterSeconds
  const code = refusal.code === 'validation_failed' ? parseError : serverError
  const { error: data } = JSON.parse(envelope(refusal)) as { readonly error: unknown }
  return raw(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message: refusal.message, data } }), {
    contentType: 'application/json',
    ...(retry !== undefined && { headers: { 'retry-after': String(Math.ceil(retry)) } }),
  })
}
