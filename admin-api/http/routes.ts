/** Puts the operations on an h3 app, and gives every other path and method its refusal. */
import assert from 'node:assert'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { H3, type H3Event } from 'h3'
import * as z from 'zod'
import { clientAddress } from '#core/access/client-network.ts'
import { reportedCall } from '#core/activity.ts'
import { invalid, Refusal } from '#core/refusals.ts'
import { noBody } from '../operation/answer.ts'
import { RequestHandler, type HandlerContext, type Incoming } from './request-handler.ts'
import { foreignPaths } from './foreign-paths.ts'
import type { Operation, ErrorRenderer } from '../operation/operation.ts'

/** The app that serves the operations, whose ids and routes differ. `errorRenderer` renders the response for an unknown address. */
export function buildApp(operations: readonly Operation[], context: HandlerContext, errorRenderer?: ErrorRenderer): H3 {
  assertDistinct(operations)
  const run = (served: Operation) => (event: H3Event) => handleRequest(served, event, context)
  const malformed = refusing('malformedUrl', () => invalid([{ path: 'path', message: 'has a broken percent escape' }]))
  const app = new H3({ silent: true, onError: (_error, event) => handleRequest(malformed, event, context) })
  for (const served of operations) {
    app.on(served.method, toRoute(served.path), run(served))
    if (served.method === 'GET') app.on('HEAD', toRoute(served.path), run(served))
  }
  for (const [path, there] of Map.groupBy(operations, ({ path }) => path)) {
    if (there.some(({ allowsAnyOrigin }) => allowsAnyOrigin)) app.on('OPTIONS', toRoute(path), run(preflight))
    const credentials = there.flatMap((served) => served.credentials ?? []).filter((each) => each !== 'bearer' && each.cors)
    const { cors } = there.find((served) => served.cors) ?? {}
    if (cors) app.on('OPTIONS', toRoute(path), run({ ...preflight, allowsAnyOrigin: false, cors }))
    if (credentials.length > 0) app.on('OPTIONS', toRoute(path), run({ ...preflight, allowsAnyOrigin: false, credentials }))
    app.all(toRoute(path), run(wrongMethod(there)))
  }
  for (const [path, refusal] of foreignPaths)
    if (!operations.some((served) => served.path === path)) app.all(toRoute(path), run(refusing('foreignPath', refusal, errorRenderer)))
  const nothing = () => new Refusal('not_found', 'Nothing is served at this address; /openapi.json lists all addresses.')
  app.all('/**', run(refusing('nothingThere', nothing, errorRenderer)))
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

function handleRequest(served: Operation, event: H3Event, context: HandlerContext): Promise<Response> {
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
