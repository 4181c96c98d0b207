/** `Post` for webhooks: each on a connection of its own to an address that was checked; nothing that the receiver does takes longer or more than allowed. */
import { request as beginRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { Clock } from '#core/clock.ts'
import { isPublicAddress, type AddressGuard } from '#core/outbound/address-guard.ts'
import type { Post, PostLimits, PostOutcome, PostRequest } from '#core/outbound/post.ts'
import type { Resolver } from '#core/outbound/resolver.ts'
import { connectFirst, dialDirectly, permittedAddresses } from '../smtp/connect.ts'
import { Failure } from '../smtp/failure.ts'
import { clientContext, secure } from '../smtp/secure.ts'
import { standardHttpDeadlines } from './deadlines.ts'

export interface GuardedPostOptions {
  readonly resolver: Resolver
  readonly guard: AddressGuard
  readonly clock: Clock
  /** Certificates in PEM that are trusted besides the well-known ones. */
  readonly trusted?: readonly string[]
}

type Network = GuardedPostOptions & { readonly context: () => SecureContext }

export function guardedPost(options: GuardedPostOptions): Post {
  let context: SecureContext | undefined
  const network: Network = { ...options, context: () => (context ??= clientContext(options.trusted ?? [])) }
  return async (request, limits, signal) => {
    const late = new AbortController()
    const timer = options.clock.after(limits.deadlineMs, () => late.abort())
    try {
      return await post(network, request, limits, AbortSignal.any([signal, late.signal]))
    } catch (error) {
      const isOurs = signal.aborted && !late.signal.aborted
      if (late.signal.aborted) return { problem: `The receiver did not answer within ${limits.deadlineMs / 1000} seconds.`, isOurs }
      return { problem: wordsFor(error), isOurs }
    } finally {
      timer.cancel()
    }
  }
}

async function post(network: Network, request: PostRequest, { answerBytesMax }: PostLimits, signal: AbortSignal): Promise<PostOutcome> {
  const url = new URL(request.url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isEncrypted = url.protocol === 'https:'
  const port = Number(url.port || (isEncrypted ? 443 : 80))
  const { clock, resolver, guard } = network
  // in clear only to what is not public, which the operator has allowed
  const mayConnect: AddressGuard = isEncrypted ? guard : (address, to) => guard(address, to) && !isPublicAddress(address)
  const surroundings = { resolver, clock, guard: mayConnect, dial: dialDirectly, deadlines: standardHttpDeadlines }
  const addresses = await permittedAddresses(surroundings, host, port)
  const { socket: bare } = await connectFirst(surroundings, addresses, port, signal)
  try {
    const tls = { host, verify: true, clock, deadlineMs: standardHttpDeadlines.tls, signal }
    const socket = isEncrypted ? await secure(bare, { ...tls, context: network.context() }) : bare
    return await exchange(socket, url, request, answerBytesMax, signal)
  } finally {
    bare.destroy()
  }
}

function exchange(
  socket: Socket,
  url: URL,
  { headers, body }: PostRequest,
  answerBytesMax: number,
  signal: AbortSignal,
): Promise<PostOutcome> {
  return new Promise((resolve, reject) => {
    const sent = beginRequest({
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, 'content-length': String(body.length), host: url.host, connection: 'close' },
      signal,
      createConnection: () => socket,
    })
    let isAnswered = false
    sent.on('error', (error) => isAnswered || reject(error))
    sent.on('close', () => isAnswered || reject(new Error('closed without an answer')))
    sent.on('response', (answer) => {
      isAnswered = true
      const status = answer.statusCode ?? 0
      void beginningOf(answer, answerBytesMax).then((bytes) => resolve({ status, answer: bytes }), reject)
    })
    sent.end(body)
  })
}

/** What came of the body before it was enough, or broke off, or time was up. */
async function beginningOf(answer: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  const pieces: Buffer[] = []
  let length = 0
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) {
      pieces.push(piece)
      length += piece.length
      if (length >= bytesMax) break
    }
  } catch {
    // the status line has told what matters
  }
  return Buffer.concat(pieces).subarray(0, bytesMax)
}

function wordsFor(error: unknown): string {
  if (error instanceof Failure) return error.message
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code.startsWith('HPE_')) return `The receiver answered with something that is not HTTP (${code}).`
  return 'The receiver closed the connection without an answer.'
}
