/** HTTP request (RFC 9110) on a separate connection: checked addresses, no redirects, one deadline for all steps, a limit on the answer. */
import { request as beginRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { isPublicAddress } from '#core/outbound/address-guard.ts'
import { openConnection, targetOf, type SecureNetwork } from './open-connection.ts'
import { OutboundFailure } from './failure.ts'

/** A complete HTTP request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
}

export interface RequestRules {
  /** Timeout in milliseconds for all steps: look-up, connection, TLS, request and answer. */
  readonly deadlineMs: number
  /** Maximum bytes of the answer's body. */
  readonly maxAnswerBytes: number
  /**
   * Handling of an incomplete or long body. `fail`: the request fails. `cut`: the answer counts, with the part of the body received before
   * the limit, an error or the timeout.
   */
  readonly ifMore: 'fail' | 'cut'
  /** Destinations that may use `http:`. `inside`: addresses that are not public. */
  readonly inClear: 'nowhere' | 'inside' | 'anywhere'
}

export interface HttpAnswer {
  readonly status: number
  /** Header fields by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/**
 * Sends the request and returns the answer, with any status. Throws `OutboundFailure`, with code `aborted` after an abort of the signal.
 */
export async function request(
  network: SecureNetwork,
  asked: HttpRequest,
  rules: RequestRules,
  signal: AbortSignal = new AbortController().signal,
): Promise<HttpAnswer> {
  const url = new URL(asked.url)
  if (url.protocol !== 'https:' && rules.inClear === 'nowhere') throw new TypeError('the URL must use https')
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
    // after the start of an answer, reading it reports the error
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
    throw new OutboundFailure('answer_too_long', 'request', `The limit is ${maxAnswerBytes} bytes.`)
  return Buffer.concat(pieces).subarray(0, maxAnswerBytes)
}

/** Joins the values of each header into one text. */
export const flatHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))

/** Whether the code is an error of Node's HTTP parser: the peer did not send HTTP. */
export const isNotHttp = (code: string): boolean => code.startsWith('HPE_')

function failureOf(error: unknown): OutboundFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return new OutboundFailure(isNotHttp(code) ? 'http_protocol_error' : 'connection_lost', 'request', code === '' ? undefined : `(${code})`)
}
