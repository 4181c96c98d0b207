/** Where the command line of the same machine asks a running daemon for a sign-in link, with a token that only the data folder holds. */
import { timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import { Refusal } from '#core/refusals.ts'
import { operation, type Operation } from './operation.ts'

export const operatorLinkPath = '/operator/login-links'

export interface OperatorLinkOptions {
  /** What the caller must know. */
  readonly token: string
  /** Answers the whole address of a link that signs this address in. */
  readonly make: (email: string) => Promise<string>
}

export const operatorLinkOperation = ({ token, make }: OperatorLinkOptions): Operation =>
  operation({
    method: 'POST',
    path: operatorLinkPath,
    operationId: 'makeLoginLink',
    summary: 'Make a sign-in link for the operator',
    tags: ['process'],
    right: 'none',
    isDescribedElsewhere: true,
    body: z.strictObject({ email: z.string().max(254) }),
    response: z.object({ url: z.string() }),
    async handle({ headers, body }) {
      const [given, own] = [Buffer.from(headers.authorization ?? ''), Buffer.from(`Bearer ${token}`)]
      if (given.length !== own.length || !timingSafeEqual(given, own))
        throw new Refusal('unauthorized', 'This is for the command line of the service.')
      return { url: await make(body.email) }
    },
  })
