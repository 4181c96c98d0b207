/** Requests that break HTTP itself never reach an operation: they are answered on the bare socket, in the same envelope. */
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
    refusal: new Refusal('validation_failed', 'The request did not arrive in time.', { nextAction: 'retry_later' }),
  },
}

/** For the server's `clientError`: says what was wrong if the socket still takes it, then closes the connection. */
export function answerHttpFault(error: Error & { readonly code?: string }, socket: Socket, requestId: string): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const { status, refusal } = faults[error.code ?? ''] ?? malformed
  const body = envelope(refusal)
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n${body}`,
  )
}
