/** Serves operations through an h3 app, and refuses every other path and method. */
import assert from 'node:assert'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { H3, type H3Event, type H3EventContext } from 'h3'
import type { ServerRequest } from 'srvx'
import * as z from 'zod'
import { clientAddress } from '#core/access/client-network.ts'
import { reportedCall } from '#core/activity.ts'
import { invalid, Refusal } from '#core/refusals.ts'
import { noBody } from '../operation/answer.ts'
import type { HandlerContext, Incoming } from './handler-context.ts'
import { RequestHandler } from './request-handler.ts'
import { foreignPaths } from './foreign-paths.ts'
import type { Operation, ErrorRenderer, Method } from '../operation/operation.ts'

export type Fetch = (request: ServerRequest) => Response | Promise<Response>

/** The operation of a method and path. An empty method matches all other methods of the path. */
interface Route {
  readonly method: Method | 'HEAD' | 'OPTIONS' | ''
  readonly path: string
  readonly served: Operation
}

/** Context of a request: the routes and the handler of the daemon that received it. */
interface RoutedRequest extends H3EventContext {
  readonly routes: readonly Route[]
  readonly malformed: Operation
  readonly handler: HandlerContext
}

/** Serves operations with distinct ids and routes. `errorRenderer` renders the response for an unknown path. */
export function serveOperations(operations: readonly Operation[], handler: HandlerContext, errorRenderer?: ErrorRenderer): Fetch {
  assertDistinct(operations)
  const nothing = () => new Refusal('not_found', 'Nothing is served at this address; /openapi.json lists all addresses.')
  const malformed = refusing('malformedUrl', () => invalid([{ path: 'path', message: 'has a broken percent escape' }]))
  const routes: readonly Route[] = [
    ...operations.flatMap((served): Route[] => {
      const { method, path } = served
      return [{ method, path, served }, ...(method === 'GET' ? [{ method: 'HEAD', path, served } as const] : [])]
    }),
    ...[...Map.groupBy(operations, ({ path }) => path)].flatMap(([path, there]) => besideOperations(path, there)),
    ...[...foreignPaths]
      .filter(([path]) => !operations.some((served) => served.path === path))
      .map(([path, refusal]): Route => ({ method: '', path, served: refusing('foreignPath', refusal, errorRenderer) })),
    { method: '', path: '/**', served: refusing('nothingThere', nothing, errorRenderer) },
  ]
  const app = appOf(routes)
  return (request) => app.request(request, undefined, { routes, malformed, handler } satisfies RoutedRequest)
}

/** Routes of a path for CORS preflights and for methods without an operation. */
function besideOperations(path: string, there: readonly Operation[]): readonly Route[] {
  const credentials = there.flatMap((served) => served.credentials ?? []).filter((each) => each !== 'bearer' && each.cors)
  const { cors } = there.find((served) => served.cors) ?? {}
  const preflights = [
    ...(there.some(({ allowsAnyOrigin }) => allowsAnyOrigin) ? [preflight] : []),
    ...(cors ? [{ ...preflight, allowsAnyOrigin: false, cors }] : []),
    ...(credentials.length > 0 ? [{ ...preflight, allowsAnyOrigin: false, credentials }] : []),
  ]
  return [...preflights.map((served): Route => ({ method: 'OPTIONS', path, served })), { method: '', path, served: wrongMethod(there) }]
}

/** Maximum number of cached apps. Daemons of one process need few, as their settings add few routes. */
const maxApps = 4
const apps = new Map<string, H3>()

/** Returns an app that calls the route of a request by its index. Equal methods and paths share an app: creating one takes 10 to 16 ms. */
function appOf(routes: readonly Route[]): H3 {
  const key = routes.map(({ method, path }) => `${method} ${path}`).join('\n')
  const known = apps.get(key)
  if (known) return known
  const app = new H3({ silent: true, onError: (_error, event) => handleRequest((event.context as RoutedRequest).malformed, event) })
  for (const [at, { method, path }] of routes.entries())
    app.on(method, toRoute(path), (event) => {
      const route = (event.context as RoutedRequest).routes[at]
      assert(route)
      return handleRequest(route.served, event)
    })
  if (apps.size === maxApps) apps.clear()
  apps.set(key, app)
  return app
}

/** Throws an assertion if two operations have the same id or route. */
function assertDistinct(operations: readonly Operation[]): void {
  const seen = new Set<string>()
  for (const { operationId, method, path } of operations) {
    const route = `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
    assert(!seen.has(operationId) && !seen.has(route), `${operationId} (${method} ${path}) is there twice`)
    seen.add(operationId).add(route)
  }
}

function handleRequest(served: Operation, event: H3Event): Promise<Response> {
  const node = event.runtime?.node
  assert(node?.res, 'the HTTP side runs on Node')
  const { search } = event.url
  const incoming: Incoming = {
    req: node.req as IncomingMessage,
    res: node.res as ServerResponse,
    remoteAddress: clientAddress(event.req.ip ?? ''),
    pathValues: decoded(event.context.params),
    search: search === '' ? undefined : event.url.searchParams,
  }
  const { handler: context } = event.context as RoutedRequest
  const handler = new RequestHandler(served, incoming, context)
  if (served.waits) return handler.run()
  return reportedCall(context.activity, 'HTTP request', () => handler.run())()
}

const whatever = z.looseObject({})

/** Creates an operation that refuses every request. */
function refusing(operationId: string, refusal: () => Refusal, errorRenderer?: ErrorRenderer): Operation {
  return {
    method: 'GET',
    path: '/',
    operationId,
    summary: '',
    tags: [],
    scope: 'none',
    feature: undefined,
    bypassesLoadShedding: true,
    params: whatever,
    query: whatever,
    body: undefined,
    response: noBody,
    examples: {},
    ...(errorRenderer && { errorRenderer }),
    handle() {
      throw refusal()
    },
  }
}

/** Returns the CORS headers of a preflight response. */
const preflight: Operation = {
  ...refusing('preflight', () => new Refusal('not_found', '')),
  status: 204,
  allowsAnyOrigin: true,
  handle: () => undefined,
}

/** Refuses the other methods of a path, in the error format of its operations. */
function wrongMethod(there: readonly Operation[]): Operation {
  const allow = there.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const message = `This address accepts ${allow.join(', ')}.`
  const refusal = () => new Refusal('method_not_allowed', message, { details: { allow } })
  return refusing('wrongMethod', refusal, there[0]?.errorRenderer)
}

function toRoute(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** Decodes escapes in path values, which the router keeps; paths with invalid escapes are refused earlier. */
function decoded(params: Record<string, string> | undefined): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(params ?? {})) values[name] = value.includes('%') ? decodeURIComponent(value) : value
  return values
}
