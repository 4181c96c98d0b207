/** The media type of an answer: JSON or a stream of events, whichever the client accepts. RFC 9110 §12.5.1. */
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '#core/refusals.ts'
import { accepts } from '../http/negotiation.ts'
import { raw, type Answer } from '../operation/answer.ts'

const json = 'application/json'
const events = 'text/event-stream'

/** The `Accept` header that the package requires of each request. */
export const bothTypes = `${json}, ${events}`

export interface AcceptedTypes {
  readonly json: boolean
  readonly events: boolean
}

export const acceptedTypes = (headers: IncomingHttpHeaders): AcceptedTypes => ({
  json: accepts(headers, json),
  events: accepts(headers, events),
})

/** The answer in a type that the client accepts. Errors of the protocol and answers without content stay as they are. */
export async function inAcceptedType(answer: Answer, accepted: AcceptedTypes, isBatch: boolean): Promise<Answer> {
  if ((answer.status ?? 200) !== 200) return answer
  if (answer.contentType.startsWith(events)) return accepted.events ? answer : asJson(answer, isBatch)
  return accepted.json ? answer : raw(`event: message\ndata: ${answer.body as string}\n\n`, { contentType: events })
}

/** The responses of a stream. Notifications in it say that work goes on, which a client of JSON does not learn. */
async function asJson({ body }: Answer, isBatch: boolean): Promise<Answer> {
  const text = await new Response(body as ReadableStream<Uint8Array>).text()
  const messages = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []))
  const responses = messages.filter(isResponse)
  if (responses.length === 0) throw new Refusal('overloaded', 'The service is restarting; repeat the request.', { retryAfterSeconds: 2 })
  return raw(isBatch ? `[${responses.join(',')}]` : responses.join(''), { contentType: json })
}

const isResponse = (message: string): boolean => message !== '' && !('method' in (JSON.parse(message) as object))
