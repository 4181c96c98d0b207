/** Outbound clients of the core over the guarded request: documents, images and POST requests to receivers. */
import { FetchFailed, type Fetch } from '#core/outbound/fetch.ts'
import type { GetBytes } from '#core/outbound/get-bytes.ts'
import type { Post } from '#core/outbound/post.ts'
import { outboundNetwork, type OutboundOptions } from './open-connection.ts'
import { openingDeadlines } from './dial.ts'
import { OutboundFailure } from './failure.ts'
import { request } from './request.ts'

/** Fetches external documents over https only. */
export function guardedFetch(options: OutboundOptions): Fetch {
  const network = outboundNetwork(options, openingDeadlines)
  const headers = { accept: 'application/json', 'user-agent': 'Postern' }
  return async (url, { deadlineMs, maxBytes }) => {
    const rules = { deadlineMs, maxAnswerBytes: maxBytes, ifMore: 'fail', inClear: 'nowhere' } as const
    try {
      const { status, headers: fields, body } = await request(network, { method: 'GET', url, headers }, rules)
      return { status, headers: fields, text: body.toString('utf8') }
    } catch (error) {
      throw error instanceof OutboundFailure ? new FetchFailed(error.message, { cause: error }) : error
    }
  }
}

/** Fetches images of captured messages. */
export function guardedGet(options: OutboundOptions): GetBytes {
  const network = outboundNetwork(options, openingDeadlines)
  const headers = { accept: 'image/*', 'user-agent': 'Postern' }
  return async (url, { deadlineMs, maxBytes }, signal) => {
    const rules = { deadlineMs, maxAnswerBytes: maxBytes, ifMore: 'fail', inClear: 'anywhere' } as const
    try {
      const { status, body } = await request(network, { method: 'GET', url, headers }, rules, signal)
      return status === 200 ? body : undefined
    } catch (error) {
      if (error instanceof OutboundFailure) return undefined
      throw error
    }
  }
}

/** Sends webhooks, notifications and captcha checks. Allows `http:` only to private addresses that the operator has allowed. */
export function guardedPost(options: OutboundOptions): Post {
  const network = outboundNetwork(options, openingDeadlines)
  return async (message, { deadlineMs, maxAnswerBytes }, signal) => {
    const rules = { deadlineMs, maxAnswerBytes, ifMore: 'cut', inClear: 'inside' } as const
    try {
      const { status, body } = await request(network, { method: 'POST', ...message }, rules, signal)
      return { status, answer: body }
    } catch (error) {
      if (error instanceof OutboundFailure) return { problem: textsFor(error, deadlineMs), isOurs: error.code === 'aborted' }
      throw error
    }
  }
}

function textsFor({ code, step, detail, message }: OutboundFailure, deadlineMs: number): string {
  if (code === 'answer_timeout') return `The receiver did not answer within ${deadlineMs / 1000} seconds.`
  if (code === 'http_protocol_error') return `The answer of the receiver is not valid HTTP ${detail ?? ''}.`
  return step === 'request' ? 'The receiver closed the connection without an answer.' : message
}
