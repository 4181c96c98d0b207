/** Invalid HTTP never reaches an operation: the response is written to the socket, in the same envelope. */
import type { Socket } from 'node:net'
import { Refusal } from '#core/refusals.ts'
import { envelope } from './rendering.ts'

interface Fault {
  readonly status: string
  readonly refusal: Refusal
}

const malformed: Fault = {
  status: '400 Bad Request',
  refusal: new Refusal('validation_failed', 'The request is not well-formed HTTP.'),
}

const faults: Readonly<Record<string, Fault>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    refusal: new Refusal('request_too_large', 'The header of the request may have at most 16384 bytes.'),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    refusal: new Refusal('request_timeout', 'The request did not arrive in time and was not processed. Send it again.'),
  },
}

/** Returns the response for a connection error. */
export const faultOf = (error: { readonly code?: string }): Fault => faults[error.code ?? ''] ?? malformed

/** Handles the server's `clientError`: sends the error if the socket is writable, then closes the connection. */
export function answerHttpFault(error: Error & { readonly code?: string }, socket: Socket, requestId: string): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const { status, refusal } = faultOf(error)
  socket.end(bareAnswer(status, refusal, requestId))
}

/** Time that a refused connection stays open, so that its client can read the reason. */
const lingerMs = 2000
const maxLingering = 100

/** Refuses connections beyond the limits of a server. */
export class TurnedAway {
  readonly #lingering = new Set<Socket>()

  /** Sends the refusal and closes the connection. Sends nothing while too many refused connections are open. */
  answer(socket: Socket, refusal: Refusal, requestId: string): void {
    if (this.#lingering.size >= maxLingering) return void socket.destroy()
    this.#lingering.add(socket)
    const end = setTimeout(() => socket.destroy(), lingerMs).unref()
    socket.once('close', () => {
      this.#lingering.delete(socket)
      clearTimeout(end)
    })
    socket.on('error', () => socket.destroy())
    socket.resume() // closing a socket with unread data resets the connection, and the response is lost
    socket.end(bareAnswer('503 Service Unavailable', refusal, requestId))
  }
}

function bareAnswer(status: string, refusal: Refusal, requestId: string): string {
  const body = envelope(refusal)
  const retry = refusal.retryAfterSeconds === undefined ? '' : `Retry-After: ${Math.ceil(refusal.retryAfterSeconds)}\r\n`
  return (
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${retry}` +
    `X-Request-Id: ${requestId}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`
  )
}
