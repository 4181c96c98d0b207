/** Selects the media type of a response from the `Accept` header: JSON or an event stream. RFC 9110 §12.5.1. */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '#core/refusals.ts'
import { accepts } from '../http/negotiation.ts'
import { raw, type Answer } from '../operation/answer.ts'

const json = 'application/json'
const events = 'text/event-stream'

/** The `Accept` header that the package requires of every request. */
export const bothTypes = `${json}, ${events}`

export interface AcceptedTypes {
  readonly json: boolean
  readonly events: boolean
}

export const acceptedTypes = (headers: IncomingHttpHeaders): AcceptedTypes => ({
  json: accepts(headers, json),
  events: accepts(headers, events),
})

/** Converts a response to a type that the client accepts. Protocol errors and responses without content do not change. */
export async function inAcceptedType(answer: Answer, accepted: AcceptedTypes, isBatch: boolean): Promise<Answer> {
  if ((answer.status ?? 200) !== 200) return answer
  if (answer.contentType.startsWith(events)) return accepted.events ? answer : asJson(answer, isBatch)
  return accepted.json ? answer : raw(`event: message\ndata: ${answer.body as string}\n\n`, { contentType: events })
}

/** Returns the responses in a stream as JSON. Progress notifications are dropped, since a JSON response cannot carry them. */
async function asJson({ body }: Answer, isBatch: boolean): Promise<Answer> {
  const text = await new Response(body as ReadableStream<Uint8Array>).text()
  const messages = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []))
  const responses = messages.filter(isResponse)
  if (responses.length === 0) throw new Refusal('overloaded', 'The service is restarting; repeat the request.', { retryAfterSeconds: 2 })
  return raw(isBatch ? `[${responses.join(',')}]` : responses.join(''), { contentType: json })
}

const isResponse = (message: string): boolean => message !== '' && !('method' in (JSON.parse(message) as object))
