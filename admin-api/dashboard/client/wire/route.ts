/**
 * Routes of the API. A route is the path of an operation, preceded by the method if it is not GET: `/v1/traces`, `POST /v1/webhooks`. The
 * types of its input and answer come from `paths`.
 */
import type { paths } from './api.d.ts'

type Operations<M extends string, Prefix extends string> = {
  [P in keyof paths as paths[P] extends Record<M, unknown> ? `${Prefix}${P}` : never]: paths[P] extends Record<M, infer O> ? O : never
}

interface Routes
  extends
    Operations<'get', ''>,
    Operations<'post', 'POST '>,
    Operations<'put', 'PUT '>,
    Operations<'patch', 'PATCH '>,
    Operations<'delete', 'DELETE '> {}

export type Route = keyof Routes

interface Described {
  readonly parameters: { readonly path?: unknown; readonly query?: unknown }
  readonly responses: unknown
}

interface Json<T> {
  readonly content: { readonly 'application/json': T }
}

type BodyOf<O> = O extends { requestBody: Json<infer B> }
  ? { body: B }
  : O extends { requestBody?: undefined }
    ? { body?: never }
    : O extends { requestBody?: Json<infer B> }
      ? { body?: B }
      : { body?: never }

type Parts<O> = O extends Described ? Pick<O['parameters'], keyof O['parameters'] & ('path' | 'query')> & BodyOf<O> : never

/** Path, query and body of a request. */
export type Input<R extends Route> = R extends Route ? Parts<Routes[R]> : never

type Content<A> = A extends Json<infer T> ? T : A extends { readonly content?: never } ? undefined : Blob

/** The JSON of a successful response, a file, or undefined without content. */
export type Answer<R extends Route> = R extends Route ? Content<Routes[R]['responses'][keyof Routes[R]['responses']]> : never

export interface Page<T> {
  readonly data: readonly T[]
  readonly next_cursor: string | null
}

/** Routes of lists with pages. */
export type ListRoute = { [R in Route]: Answer<R> extends Page<unknown> ? R : never }[Route]

export type Row<R extends Route> = Answer<R> extends { readonly data: readonly (infer T)[] } ? T : never

export type Values = Readonly<Record<string, string | number | boolean | undefined>>

/** The parts of a request, for any route. */
export interface RequestParts {
  readonly path?: Values
  readonly query?: Values
  readonly body?: unknown
  /** The body, if it is a file. */
  readonly file?: { readonly name: string; readonly type: string }
}

/** Returns the method and the path of a route. */
export function partsOf(route: string): readonly [method: string, path: string] {
  const [method = '', path] = route.split(' ')
  return path === undefined ? ['GET', method] : [method, path]
}

/** Fills in the parameters of a path. Also encodes quotes and brackets, so that the URL can be pasted into shells and JavaScript. */
export const filled = (path: string, values: Values): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(values[name] ?? '')).replaceAll(/[!'()*~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`),
  )

/** Returns the text of a query, without empty fields. */
export const searchOf = (query: Values): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  ).toString()

/** Returns the path and query of a request. */
export function addressOf(route: string, { path = {}, query = {} }: RequestParts): string {
  const search = searchOf(query)
  return `${filled(partsOf(route)[1], path)}${search === '' ? '' : `?${search}`}`
}
