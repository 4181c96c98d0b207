/** One HTTPS request (RFC 9110) to an address that was checked: no redirects, one deadline for all of it, a bounded answer. */
import { request as beginRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { connectFirst, permittedAddresses, type Network } from '../smtp/connect.ts'
import type { Deadlines } from '../smtp/deadlines.ts'
import { Failure } from '../smtp/failure.ts'
import { secure } from '../smtp/secure.ts'
import type { VendorAnswer, VendorRequest } from './vendor.ts'

export interface HttpsNetwork extends Network {
  readonly context: SecureContext
  readonly deadlines: Network['deadlines'] & Pick<Deadlines, 'tls'>
}

export interface RequestLimits {
  /** Milliseconds for everything: look-up, connection, TLS, request and answer. */
  readonly deadlineMs: number
  /** Bytes of the answer's body; a longer one is a failure. */
  readonly answerBytesMax: number
}

/** Asks over a connection of its own. Throws `Failure`; a refusal by the server is an answer. */
export async function guardedRequest(
  network: HttpsNetwork,
  request: VendorRequest,
  limits: RequestLimits,
  signal: AbortSignal,
): Promise<VendorAnswer> {
  const late = new AbortController()
  const timer = network.clock.after(limits.deadlineMs, () => late.abort())
  const both = AbortSignal.any([signal, late.signal])
  try {
    return await ask(network, request, limits, both)
  } catch (error) {
    if (late.signal.aborted) throw new Failure('command_timeout', 'auth')
    if (error instanceof Failure) throw error
    const code = error instanceof Error && 'code' in error ? `(${String(error.code)})` : undefined
    throw new Failure(signal.aborted ? 'aborted' : 'connection_lost', 'auth', code)
  } finally {
    timer.cancel()
  }
}

async function ask(network: HttpsNetwork, request: VendorRequest, limits: RequestLimits, signal: AbortSignal): Promise<VendorAnswer> {
  const url = new URL(request.url)
  if (url.protocol !== 'https:') throw new TypeError('only https is asked')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || 443)
  const addresses = await permittedAddresses(network, host, port)
  const { socket: bare } = await connectFirst(network, addresses, port, signal)
  const { clock, context, deadlines } = network
  const socket = await secure(bare, { host, verify: true, context, clock, deadlineMs: deadlines.tls, signal })
  try {
    return await exchange(socket, url, request, limits.answerBytesMax, signal)
  } finally {
    socket.destroy()
  }
}

function exchange(socket: Socket, url: URL, request: VendorRequest, bytesMax: number, signal: AbortSignal): Promise<VendorAnswer> {
  return new Promise((resolve, reject) => {
    const { method, body } = request
    const length = method === 'POST' ? { 'content-length': String(body?.length ?? 0) } : {}
    const headers = { ...request.headers, ...length, host: url.host, connection: 'close' }
    const path = `${url.pathname}${url.search}`
    const sent: ClientRequest = beginRequest({ method, path, headers, signal, createConnection: () => socket })
    sent.on('error', reject)
    sent.on('response', (answer) => void readWhole(answer, bytesMax).then(resolve, reject))
    sent.end(body)
  })
}

async function readWhole(answer: IncomingMessage, bytesMax: number): Promise<VendorAnswer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > bytesMax) throw new Failure('protocol_error', 'auth', `The answer is longer than ${bytesMax} bytes.`)
    pieces.push(piece)
  }
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))
  return { status: answer.statusCode ?? 0, headers, text: Buffer.concat(pieces).toString('utf8') }
}
