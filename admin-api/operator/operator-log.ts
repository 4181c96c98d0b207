/** Operation for the command line on the same machine: reads the log lines of a message. */
import * as z from 'zod'
import { media, raw } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import { requireRunToken } from './operator-link.ts'

export const logPath = '/operator/log'

export interface OperatorLogOptions {
  /** Token that the caller must send. */
  readonly token: string
  /** Returns the latest lines with this text, oldest first, each with its line break. */
  readonly linesWith: (text: string) => readonly string[]
}

const contentType = 'application/x-ndjson'

export const operatorLogOperation = ({ token, linesWith }: OperatorLogOptions): Operation =>
  operation({
    method: 'GET',
    path: logPath,
    operationId: 'readLog',
    summary: 'Lines of the log about a message',
    tags: ['process'],
    scope: 'none',
    hiddenFromOpenApi: true,
    query: z.strictObject({ trace_id: z.uuid() }),
    response: media(contentType),
    async handle({ headers, headOnly, query }) {
      requireRunToken(headers, token)
      return raw(headOnly ? '' : linesWith(query.trace_id).join(''), { contentType })
    },
  })
