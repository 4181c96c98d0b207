/** What an action says of HTTP: method and path, where each field comes from, and what an operation alone can have. */
import type { OperationFacts } from '../operation/operation.ts'

/** What an operation says of itself that is HTTP's alone. */
type HttpFacts<C> = Omit<
  OperationFacts<C>,
  'operationId' | 'summary' | 'description' | 'tags' | 'errors' | 'feature' | 'openToSendOnlyKeys' | 'responseHeaders'
>

/** A place of a request that a field is read from; one of a header may stand in the body too, and must be the same there. */
export type FieldSource = 'path' | 'query' | 'body' | { readonly header: string; readonly orBody?: true }

/** A header of good answers. */
export interface ResponseHeader<R> {
  readonly description: string
  /** Its value, or undefined where the answer goes without. */
  readonly of: (result: R) => string | undefined
}

export interface HttpBinding<R, in C = unknown> extends HttpFacts<C> {
  /** Fields from elsewhere: by default those of the path by name, all others from the query of GET and DELETE, else from the body. */
  readonly from?: Readonly<Record<string, FieldSource>>
  /** What a request without a body means; by default it is refused. */
  readonly emptyBody?: Readonly<Record<string, unknown>>
  /** The status of an answer that has one of `otherResponses`. */
  readonly statusOf?: (result: R) => number | undefined
  readonly headers?: Readonly<Record<string, ResponseHeader<R>>>
}
