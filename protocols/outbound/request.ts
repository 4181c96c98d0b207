/** One HTTP request (RFC 9110) on its own connection: checked addresses, no redirects, one deadline for all of it, a bounded answer. */
import { request as beginRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { isPublicAddress } from '#core/outbound/address-guard.ts'
import { openConnection, targetOf, type SecureNetwork } from './open-connection.ts'
import { OutboundFailure } from './failure.ts'

/** One HTTP request, complete. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
}

export interface RequestRules {
  /** Milliseconds for everything: look-up, connection, TLS, request and answer. */
  readonly deadlineMs: number
  /** Bytes of the answer's body. */
  readonly maxAnswerBytes: number
  /**
   * `fail`: an answer counts when it came whole. `cut`: its status line counts, with what had come of the body when it was enough,
   * or broke off, or time was up.
   */
  readonly ifMore: 'fail' | 'cut'
  /** Where `http:` may go; `inside` is what is not public. */
  readonly inClear: 'nowhere' | 'inside' | 'anywhere'
}

export interface HttpAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Asks, and answers with whatever status came. Throws `OutboundFailure`; `aborted` when it was the signal that ended it. */
export async function request(
  network: SecureNetwork,
  asked: HttpRequest,
  rules: RequestRules,
  signal: AbortSignal = new AbortController().signal,
): Promise<HttpAnswer> {
  const url = new URL(asked.url)
  if (url.protocol !== 'https:' && rules.inClear === 'nowhere') throw new TypeError('only https is asked')
  const late = new AbortController()
  const timer = network.clock.after(rules.deadlineMs, () => late.abort())
  const either = AbortSignal.any([signal, late.signal])
  try {
    const { socket } = await openConnection(guarded(network, url, rules), targetOf(url), either)
    return await responseOn(socket, url, asked, rules, either).finally(() => socket.destroy())
  } catch (error) {
    if (late.signal.aborted) throw new OutboundFailure('answer_timeout', 'request')
    if (signal.aborted) throw new OutboundFailure('aborted', 'request')
    throw error instanceof OutboundFailure ? error : failureOf(error)
  } finally {
    timer.cancel()
  }
}

function guarded(network: SecureNetwork, { protocol }: URL, { inClear }: RequestRules): SecureNetwork {
  if (protocol === 'https:' || inClear === 'anywhere') return network
  return { ...network, guard: (address, port) => network.guard(address, port) && !isPublicAddress(address) }
}

function responseOn(
  socket: Socket,
  { pathname, search, host }: URL,
  { method, headers, body }: HttpRequest,
  rules: RequestRules,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sent = beginRequest({
      method,
      path: pathname + search,
      headers: { ...headers, ...(method === 'POST' && { 'content-length': String(body?.length ?? 0) }), host, connection: 'close' },
      signal,
      createConnection: () => socket,
    })
    let isAnswered = false
    // once there is an answer, reading it shows what went wrong
    sent.on('error', (error) => isAnswered || reject(error))
    sent.on('close', () => isAnswered || reject(new OutboundFailure('connection_lost', 'request')))
    sent.on('response', (answer) => {
      isAnswered = true
      const { statusCode: status = 0, headers: fields } = answer
      void read(answer, rules).then((bytes) => resolve({ status, headers: flatHeaders(fields), body: bytes }), reject)
    })
    sent.end(body)
  })
}

async function read(answer: IncomingMessage, { maxAnswerBytes, ifMore }: RequestRules): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) {
      pieces.push(piece)
      length += piece.length
      if (length > maxAnswerBytes || (length === maxAnswerBytes && ifMore === 'cut')) break
    }
  } catch (error) {
    if (ifMore === 'fail') throw error
  }
  if (length > maxAnswerBytes && ifMore === 'fail')
    throw new OutboundFailure('answer_too_long', 'request', `The answer is longer than ${maxAnswerBytes} bytes.`)
  return Buffer.concat(pieces).subarray(0, maxAnswerBytes)
}

/** One text for each name. */
export const flatHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))

/** Whether Node's parser met something that is no HTTP, for which it has codes of its own. */
export const isNotHttp = (code: string): boolean => code.startsWith('HPE_')

function failureOf(error: unknown): OutboundFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return new OutboundFailure(isNotHttp(code) ? 'http_protocol_error' : 'connection_lost', 'request', code === '' ? undefined : `(${code})`)
}
