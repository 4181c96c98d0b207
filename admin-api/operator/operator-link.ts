/** Operations for the command line on the same machine: prove the identity of a running daemon, and create sign-in links. */
import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import { proofOf, proofPath } from '#core/access/run-proof.ts'
import { Refusal } from '#core/refusals.ts'
import { operation, type Operation } from '../operation/operation.ts'

export const operatorLinkPath = '/operator/login-links'

export interface OperatorLinkOptions {
  /** Token that the caller must send. */
  readonly token: string
  /** Returns the full address of a sign-in link for this mail address, which leads to the page `next`. */
  readonly make: (email: string, next?: string) => Promise<string>
}

/** Throws `unauthorized` unless the request has the token of this run, which is stored only in the data folder. */
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
    body: z.strictObject({ email: z.string().max(254), next: z.string().optional() }),
    response: z.object({ url: z.string() }),
    async handle({ headers, body }) {
      requireRunToken(headers, token)
      return { url: await make(body.email, body.next) }
    },
  })

/** Proves that this process is the daemon of a data folder, before a command sends a secret. */
export const operatorProofOperation = (token: string): Operation =>
  operation({
    method: 'GET',
    path: proofPath,
    operationId: 'proveRun',
    summary: 'Prove that this process is the daemon of a data folder',
    tags: ['process'],
    scope: 'none',
    hiddenFromOpenApi: true,
    bypassesLoadShedding: true,
    isFree: true,
    query: z.strictObject({ challenge: z.string().regex(/^[\w-]{43}$/) }),
    response: z.object({ proof: z.string() }),
    handle: ({ query }) => ({ proof: proofOf(token, query.challenge) }),
  })
