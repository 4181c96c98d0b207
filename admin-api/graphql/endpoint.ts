/** The GraphQL endpoint: authorization, requests, results. Spec "Project rules" 2, 3 and 5. */
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import { refusals, type Refusal } from '#core/refusals.ts'
import { parseJson, usualJson } from '../bodies/json/json-body.ts'
import { media, raw, type Answer } from '../operation/answer.ts'
import { operation, type HandlerInput, type Operation } from '../operation/operation.ts'
import type { Engine } from './engine.ts'
import { extensionsOf, type GraphqlCall, type GraphqlOptions } from './graphql-options.ts'

const path = '/v1/graphql'
const text = z.string().min(1)
const record = z.record(z.string(), z.unknown())

/** Additional fields are allowed and ignored (GraphQL over HTTP). */
const body = z.looseObject({
  query: text,
  operationName: z.string().nullish(),
  variables: record.nullish(),
})

const query = z.strictObject({
  query: text,
  operationName: z.string().optional(),
  variables: z
    .string()
    .optional()
    .transform((given, context) => {
      if (given === undefined || given === '') return undefined
      const reading = parseJson(Buffer.from(given), usualJson)
      const read = 'fault' in reading ? undefined : record.safeParse(reading.value)
      if (read?.success) return read.data
      context.addIssue({ code: 'custom', message: 'fault' in reading ? reading.fault : 'must be a JSON object' })
      return z.NEVER
    }),
  extensions: z.string().optional(),
})

type Given = HandlerInput<unknown, unknown, unknown, Principal>

export function graphqlOperations(options: GraphqlOptions): readonly Operation[] {
  let engine: Promise<Engine> | undefined
  const answer = async (method: GraphqlCall['method'], params: GraphqlCall['params'], given: Given): Promise<Answer> => {
    engine ??= import('./engine.ts').then(({ graphqlEngine }) => graphqlEngine(options))
    const { headers, principal, requestId, remoteAddress, signal } = given
    const client = { address: remoteAddress, origin: headers.origin, requestId }
    return (await engine)({ method, params, headers, principal, client, signal })
  }
  const facts = {
    ...{ path, tags: ['graphql'], hiddenFromOpenApi: true },
    scope: 'api:read',
    openToBilling: true, // each field checks the access to its action
    response: media('application/json'),
    errorRenderer: graphqlRefusal,
  } as const
  return [
    operation({
      ...facts,
      ...{ method: 'POST', operationId: 'callGraphql', summary: 'Call GraphQL' },
      body,
      handle: (given) => answer('POST', given.body, given),
    }),
    operation({
      ...facts,
      ...{ method: 'GET', operationId: 'queryGraphql', summary: 'Query GraphQL' },
      query,
      handle: (given) => answer('GET', given.query, given),
    }),
  ]
}

/**
 * Renders refusals of whole requests in the format of GraphQL clients. A missing token or scope gives the response of REST, with its
 * challenge.
 */
function graphqlRefusal(refusal: Refusal): Answer | undefined {
  const { http } = refusals[refusal.code]
  if (http === 401 || refusal.code === 'insufficient_scope') return undefined
  const { message, retryAfterSeconds: retry } = refusal
  const allow = refusal.details?.['allow']
  return raw(JSON.stringify({ errors: [{ message, extensions: extensionsOf(refusal) }] }), {
    contentType: 'application/json',
    headers: {
      ...(retry !== undefined && { 'retry-after': String(Math.ceil(retry)) }),
      ...(Array.isArray(allow) && { allow: allow.join(', ') }),
    },
  })
}
