/** The HTTP facts of an action: method and path, the source of each field, and settings of operations. */
import type { OperationFacts } from '../operation/operation.ts'

/** The facts of an operation that exist only in HTTP. */
type HttpFacts<C> = Omit<
  OperationFacts<C>,
  'operationId' | 'summary' | 'description' | 'tags' | 'errors' | 'feature' | 'openToSendOnlyKeys' | 'responseHeaders'
>

/** The part of a request that contains a field. A header field may also be in the body, with the same value. */
export type FieldSource = 'path' | 'query' | 'body' | { readonly header: string; readonly orBody?: true }

/** A header of successful responses. */
export interface ResponseHeader<R> {
  readonly description: string
  /** Returns its value, or undefined to omit the header. */
  readonly of: (result: R) => string | undefined
}

export interface HttpBinding<R, in C = unknown> extends HttpFacts<C> {
  /**
   * Fields from other parts. By default, fields named in the path come from the path, all others from the query of GET and DELETE, or else
   * from the body.
   */
  readonly from?: Readonly<Record<string, FieldSource>>
  /** The input for a request without a body. By default such a request is refused. */
  readonly emptyBody?: Readonly<Record<string, unknown>>
  /** The status of a response with one of the `otherResponses`. */
  readonly statusOf?: (result: R) => number | undefined
  readonly headers?: Readonly<Record<string, ResponseHeader<R>>>
}
