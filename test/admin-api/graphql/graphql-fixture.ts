/** GraphQL clients: `graphql-request` over HTTP, with any key. */
import { ClientError, GraphQLClient } from 'graphql-request'
import type { Fixture } from '../rest/fixture/rest-fixture.ts'
import { adminKey } from '../rest/fixture/rest-fixture.ts'

type Json = Readonly<Record<string, unknown>>

/** One error of an answer. */
export interface Failure {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions: {
    readonly code: string
    readonly next_action: string
    readonly status: number
    readonly request_id?: string
    readonly details?: Readonly<Record<string, unknown>>
  }
}

export interface GraphqlCaller {
  readonly client: GraphQLClient
  /** The data of a request that must succeed. */
  must<T = Record<string, never>>(document: string, variables?: Json): Promise<T>
  /** The first error of a request that must be refused, completely or in part. */
  refused(document: string, variables?: Json): Promise<Failure>
}

export function graphqlCaller(
  { address }: Pick<Fixture, 'address'>,
  key: string = adminKey,
  headers: Record<string, string> = {},
): GraphqlCaller {
  const client = new GraphQLClient(`http://${address}/v1/graphql`, { headers: { authorization: `Bearer ${key}`, ...headers } })
  return {
    client,
    must: (document, variables) => client.request(document, variables),
    async refused(document, variables) {
      const [first] = (await failuresOf(client.request(document, variables))).errors
      if (first) return first
      throw new Error(`was not refused: ${document}`)
    },
  }
}

export async function failuresOf(request: Promise<unknown>): Promise<{ readonly status: number; readonly errors: readonly Failure[] }> {
  try {
    await request
    return { status: 200, errors: [] }
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    const { status, errors = [] } = error.response
    return { status, errors: errors as unknown as readonly Failure[] }
  }
}

/** Returns the raw answer to a request that a client library would not make. */
export async function post(
  { address }: Pick<Fixture, 'address'>,
  body: unknown,
  headers: Record<string, string> = {},
  key: string | null = adminKey,
) {
  const answer = await fetch(`http://${address}/v1/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return {
    status: answer.status,
    headers: answer.headers,
    body: (await answer.json()) as { readonly data?: Json; readonly errors?: readonly Failure[] },
  }
}
