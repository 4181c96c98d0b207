/** Operation for the command line on the same machine: streams the decisions of a running daemon. */
import { raw, media } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { requireRunToken } from './operator-link.ts'

export const decisionsPath = '/operator/decisions'

export interface OperatorDecisionsOptions {
  /** Token that the caller must send. */
  readonly token: string
  /** Returns lines of JSON until the reader cancels. */
  readonly watch: () => ReadableStream<Uint8Array>
}

const contentType = 'application/x-ndjson'

export const operatorDecisionsOperation = ({ token, watch }: OperatorDecisionsOptions): Operation =>
  operation({
    method: 'GET',
    path: decisionsPath,
    operationId: 'watchDecisions',
    summary: 'Stream the decisions of the daemon',
    tags: ['process'],
    scope: 'none',
    hiddenFromOpenApi: true,
    response: media(contentType),
    async handle({ headers, headOnly }) {
      requireRunToken(headers, token)
      return raw(headOnly ? '' : watch(), { contentType })
    },
  })
