/** Puts the operations on an h3 app, and gives every other path and method its refusal. */
import assert from 'node:assert'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { H3, type H3Event, type H3EventContext } from 'h3'
import type { ServerRequest } from 'srvx'
import * as z from 'zod'
import { clientAddress } from '#core/access/client-network.ts'
import { reportedCall } from '#core/activity.ts'
import { invalid, Refusal } from '#core/refusals.ts'
import { noBody } from '../operation/answer.ts'
import { RequestHandler, type HandlerContext, type Incoming } from './request-handler.ts'
import { foreignPaths } from './foreign-paths.ts'
import type { Operation, ErrorRenderer, Method } from '../operation/operation.ts'

/** Returns the response to a request. */
export type Fetch = (request: ServerRequest) => Response | Promise<Response>

/** A method and path, and what is served there; without a method, all others of the path. */
interface Route {
  readonly method: Method | 'HEAD' | 'OPTIONS' | ''
  readonly path: string
  readonly served: Operation
}

/** What a route needs of the daemon that received the request. */
interface RoutedRequest extends H3EventContext {
  readonly routes: readonly Route[]
  readonly malformed: Operation
  readonly handler: HandlerContext
}

/** Serves the operations, whose ids and routes differ. `errorRenderer` renders the response for an unknown address. */
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

/** What a path answers to scripts that ask before their request, and to other methods. */
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

/** Daemons of one process serve the same routes but for what their settings add. */
const maxApps = 4
const apps = new Map<string, H3>()

/** The app that calls the route of a request by its index. It is made once for the same methods and paths: it takes a tenth of a start. */
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

/** Two operations with one id or one route are a defect of the table. */
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

/** Stands where no operation is: takes whatever comes and refuses it. */
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

/** What a browser asks before a script's request; the headers that every answer to scripts has are the answer. */
const preflight: Operation = {
  ...refusing('preflight', () => new Refusal('not_found', '')),
  status: 204,
  allowsAnyOrigin: true,
  handle: () => undefined,
}

/** For the other methods of a path; in the form that refusals have there. */
function wrongMethod(there: readonly Operation[]): Operation {
  const allow = there.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const message = `This address accepts ${allow.join(', ')}.`
  const refusal = () => new Refusal('method_not_allowed', message, { details: { allow } })
  return refusing('wrongMethod', refusal, there[0]?.errorRenderer)
}

function toRoute(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** The router leaves escapes in place; a path whose escapes are broken never gets here. */
function decoded(params: Record<string, string> | undefined): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(params ?? {})) values[name] = value.includes('%') ? decodeURIComponent(value) : value
  return values
}
