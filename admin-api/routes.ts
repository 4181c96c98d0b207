/** Puts the operations on an h3 app, and gives every other path and method its refusal. */
import assert from 'node:assert'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { H3, type H3Event } from 'h3'
import * as z from 'zod'
import { invalid, Refusal } from '#core/refusals.ts'
import { noBody } from './answer.ts'
import { Exchange, type ExchangeSurroundings, type Incoming } from './exchange.ts'
import type { Operation } from './operation.ts'

/** The app that serves the operations, whose ids and routes differ. */
export function buildApp(operations: readonly Operation[], around: ExchangeSurroundings): H3 {
  assertDistinct(operations)
  const run = (served: Operation) => (event: H3Event) => runExchange(served, event, around)
  const malformed = refusing('malformedUrl', () => invalid([{ path: 'path', message: 'has a broken percent escape' }]))
  const app = new H3({ silent: true, onError: (_error, event) => runExchange(malformed, event, around) })
  for (const served of operations) {
    app.on(served.method, toRoute(served.path), run(served))
    if (served.method === 'GET') app.on('HEAD', toRoute(served.path), run(served))
  }
  for (const [path, allow] of methodsByPath(operations)) app.all(toRoute(path), run(wrongMethod(allow)))
  app.all(
    '/**',
    run(refusing('nothingThere', () => new Refusal('not_found', 'There is nothing at this address; /openapi.json lists all of them.'))),
  )
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

function runExchange(served: Operation, event: H3Event, around: ExchangeSurroundings): Promise<Response> {
  const node = event.runtime?.node
  assert(node?.res, 'the HTTP side runs on Node')
  const { search } = event.url
  const incoming: Incoming = {
    req: node.req as IncomingMessage,
    res: node.res as ServerResponse,
    remoteAddress: event.req.ip ?? '',
    pathValues: decoded(event.context.params),
    search: search === '' ? undefined : event.url.searchParams,
  }
  return new Exchange(served, incoming, around).run()
}

/** Stands where no operation is: takes whatever comes and refuses it. */
function refusing(operationId: string, refusal: () => Refusal): Operation {
  return {
    method: 'GET',
    path: '/',
    operationId,
    summary: '',
    tags: [],
    right: 'none',
    feature: undefined,
    alwaysAdmitted: true,
    params: z.looseObject({}),
    query: z.looseObject({}),
    body: undefined,
    response: noBody,
    examples: {},
    handle() {
      throw refusal()
    },
  }
}

function wrongMethod(allow: readonly string[]): Operation {
  const message = `This address takes ${allow.join(', ')}.`
  return refusing('wrongMethod', () => new Refusal('method_not_allowed', message, { details: { allow } }))
}

function methodsByPath(operations: readonly Operation[]): Map<string, readonly string[]> {
  const methods = new Map<string, readonly string[]>()
  for (const { path, method } of operations) {
    const also = method === 'GET' ? ['GET', 'HEAD'] : [method]
    methods.set(path, [...(methods.get(path) ?? []), ...also])
  }
  return methods
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
