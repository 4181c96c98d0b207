/** Where the command line of the same machine asks a running daemon for a sign-in link, with a token that only the data folder holds. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import { Refusal } from '#core/refusals.ts'
import { operation, type Operation } from '../operation/operation.ts'

export const operatorLinkPath = '/operator/login-links'

export interface OperatorLinkOptions {
  /** What the caller must know. */
  readonly token: string
  /** Returns the whole address of a link that signs this address in. */
  readonly make: (email: string) => Promise<string>
}

/** Throws `unauthorized` unless the request carries the token of this run, which the data folder alone holds. */
export function requireRunToken({ authorization = '' }: IncomingHttpHeaders, token: string): void {
  const [given, own] = [Buffer.from(authorization), Buffer.from(`Bearer ${token}`)]
  if (given.length === own.length && timingSafeEqual(given, own)) return
  throw new Refusal('unauthorized', 'This operation is for the command line of the service only.')
}

export const operatorLinkOperation = ({ token, make }: OperatorLinkOptions): Operation =>
  operation({
    method: 'POST',
    path: operatorLinkPath,
    operationId: 'createLoginLink',
    summary: 'Create a sign-in link for the operator',
    tags: ['process'],
    scope: 'none',
    hiddenFromOpenApi: true,
    body: z.strictObject({ email: z.string().max(254) }),
    response: z.object({ url: z.string() }),
    async handle({ headers, body }) {
      requireRunToken(headers, token)
      return { url: await make(body.email) }
    },
  })
