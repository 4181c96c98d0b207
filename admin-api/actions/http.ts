/** Actions as REST operations: the source of each input field, and the HTTP facts. */
import assert from 'node:assert'
import type { IncomingHttpHeaders } from 'node:http'
import * as z from 'zod'
import type { Principal } from '#core/access/principal/principal.ts'
import { invalid } from '#core/refusals.ts'
import { answer, noBody } from '../operation/answer.ts'
import { captchaToken, type Credentials } from '../credentials/credentials.ts'
import { isUnscoped, operation, pathParameters, type HandlerInput, type Operation } from '../operation/operation.ts'
import { check } from '../bodies/validation.ts'
import type { Action, CallContext } from './action.ts'
import type { FieldSource, HttpBinding } from './http-binding.ts'

type Request<C> = HandlerInput<unknown, unknown, unknown, Principal | undefined, C>

/** An action with a REST operation. */
type Bound<C = never> = Action<C> & { readonly http: HttpBinding<never, C> }
const isBound = <C>(action: Action<C>): action is Bound<C> => action.http !== undefined

/** Returns the operation for the action according to its `http` binding. `credentials` apply if the binding names no credentials. */
export function httpOperation<C>(action: Action<C>, credentials?: Credentials<C>): Operation<C> {
  assert(isBound(action), `${action.id} has no http binding`)
  const { from: _from, emptyBody: _emptyBody, statusOf: _statusOf, headers = {}, ...facts } = action.http
  const { params, query, body, headers: headerFields } = partsOf(action)
  const { input: example, output: response } = action.examples
  const inBody = body instanceof z.ZodObject ? Object.keys(body.def.shape) : undefined
  return operation({
    ...(credentials && !isUnscoped(action.scope) && { credentials }),
    ...facts,
    ...described(action),
    status: facts.status ?? (action.output ? 200 : 204),
    ...(action.http.headers && {
      responseHeaders: Object.fromEntries(Object.entries(headers).map(([name, { description }]) => [name, description])),
    }),
    params,
    query,
    ...(body && { body }),
    response: action.output ?? noBody,
    examples: {
      ...(example && body && { body: inBody ? picked(example as never, inBody) : example }),
      ...(response !== undefined && { response }),
    },
    handle: async (request: Request<C>) =>
      answerOf(action, await action.run(contextOf(action, request), inputOf(request, headerFields)), request.core) as never,
  })
}

/**
 * Returns the operations of a table of actions and operations. `credentials` apply to entries without credentials. Defaults to bearer
 * tokens.
 */
export const operationsOf = <C>(table: readonly (Action<C> | Operation<C>)[], credentials?: Credentials<C>): readonly Operation<C>[] =>
  table.flatMap((entry) => {
    if ('run' in entry) return isBound(entry) ? [httpOperation(entry, credentials)] : []
    return [credentials && !isUnscoped(entry.scope) ? { credentials, ...entry } : entry]
  })

const described = ({ id, summary, description, tags, scope, feature, errors, openToSendOnlyKeys, openToBilling }: Action<never>) => ({
  operationId: id,
  summary,
  tags,
  scope,
  ...(description !== undefined && { description }),
  ...(feature !== undefined && { feature }),
  ...(errors && { errors }),
  ...(openToSendOnlyKeys && { openToSendOnlyKeys }),
  ...(openToBilling && { openToBilling }),
})

/** The schemas of an input by the parts of a request. */
interface Parts {
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | undefined
  readonly headers: readonly HeaderField[]
}

interface HeaderField {
  readonly name: string
  readonly schema: z.ZodObject
  readonly header: string
}

const noFields = z.strictObject({})

/** An input read completely from the body keeps its schema of any type; an input from several parts must be an object. */
function partsOf({ id, input, http: { method, path, from = {}, emptyBody } }: Bound): Parts {
  const inPath = pathParameters(path)
  const rest = method === 'GET' || method === 'DELETE' ? 'query' : 'body'
  const bodyOf = (schema: z.ZodType) => (emptyBody ? schema.prefault(emptyBody) : schema)
  if (rest === 'body' && inPath.length === 0 && Object.keys(from).length === 0)
    return { params: noFields, query: noFields, body: hasNoFields(input) ? undefined : bodyOf(input), headers: [] }
  assert(input instanceof z.ZodObject, `${id}: an input from several parts of a request must be an object`)
  const shape: Fields = input.def.shape
  const sourceOf = (name: string) => from[name] ?? (inPath.includes(name) ? 'path' : rest)
  const namesAt = (source: FieldSource) => Object.keys(shape).filter((name) => sourceOf(name) === source)
  const inBody = Object.keys(shape).filter((name) => sourceOf(name) === 'body' || alsoInBody(from[name]))
  const partAt = (source: 'path' | 'query' | 'body', names: readonly string[]) => {
    if (source === rest) return remainder(input, picked(shape, names))
    return names.length === 0 ? noFields : z.strictObject(picked(shape, names))
  }
  return {
    params: partAt('path', namesAt('path')),
    query: partAt('query', namesAt('query')),
    body: inBody.length === 0 ? undefined : bodyOf(partAt('body', inBody)),
    headers: Object.entries(from).flatMap(([name, source]) =>
      typeof source === 'object' ? [{ name, header: source.header, schema: z.strictObject(renamed(shape, name, source.header)) }] : [],
    ),
  }
}

type Fields = Readonly<Record<string, z.ZodType>>

const alsoInBody = (source: FieldSource | undefined): boolean => typeof source === 'object' && source.orBody === true
const hasNoFields = (schema: z.ZodType): boolean => schema instanceof z.ZodObject && Object.keys(schema.def.shape).length === 0
const picked = (shape: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(shape).filter(([name]) => names.includes(name)))

function renamed(shape: Fields, name: string, header: string): Fields {
  const { [name]: schema } = shape
  assert(schema, `no field ${name}`)
  return { [header]: schema }
}

/** Returns the input without the fields from other parts; keeps its checks and metadata. */
function remainder(input: z.ZodObject, shape: Fields): z.ZodObject {
  const meta = input.meta()
  const part = input.clone({ ...input.def, shape })
  return meta ? part.meta(meta) : part
}

/** Combines the validated parts; a header provides the field that it is bound to. */
function inputOf({ params, query, body, headers }: Request<unknown>, fields: readonly HeaderField[]): unknown {
  const whole = typeof body === 'object' && body !== null ? { ...(params as object), ...(query as object), ...body } : body
  if (body === undefined) return withHeaders({ ...(params as object), ...(query as object) }, headers, fields)
  return fields.length === 0 ? whole : withHeaders(whole as object, headers, fields)
}

function withHeaders(input: object, headers: IncomingHttpHeaders, fields: readonly HeaderField[]): object {
  const all: Record<string, unknown> = { ...input }
  for (const { name, header, schema } of fields) {
    const given = headers[header.toLowerCase()]
    const { [header]: value } = check(schema, given === undefined ? {} : { [header]: given }, 'body')
    if (value === undefined) continue
    if (all[name] !== undefined && all[name] !== value)
      throw invalid([{ path: name, message: `differs from the header ${header}; give one of them` }])
    all[name] = value
  }
  return all
}

const contextOf = <C>({ http }: Bound, request: Request<C>): CallContext<Principal | undefined, C> => ({
  core: request.core,
  principal: request.principal,
  get signal() {
    return request.signal
  },
  client: {
    address: request.remoteAddress,
    origin: request.headers.origin,
    captchaToken: captchaToken(http, request.headers),
    requestId: request.requestId,
    operatorId: request.operatorId,
    userAgent: request.headers['user-agent'],
    signedIn: request.signedIn,
  },
})

function answerOf<C>(action: Bound<C>, result: unknown, core: C): unknown {
  const { headers, statusOf } = action.http as HttpBinding<unknown>
  const wire = action.encode(result, core)
  if (!headers && !statusOf) return wire
  const named = Object.entries(headers ?? {}).flatMap(([name, { of }]) => {
    const value = of(result)
    return value === undefined ? [] : [[name.toLowerCase(), value] as const]
  })
  const status = statusOf?.(result)
  if (named.length === 0 && status === undefined) return wire
  return answer(wire as object, { headers: Object.fromEntries(named), ...(status !== undefined && { status }) })
}
