/** The OpenAPI 3.1 document, built from the operation table. */
import * as z from 'zod'
import { runAtOnce, type Steps } from '#core/event-loop.ts'
import { refusals, type RefusalCode } from '#core/refusals.ts'
import { infoOf, tagTexts } from './openapi-info.ts'
import { SchemaCollection, type Json } from './openapi-schemas.ts'
import { describeWebhooks } from './openapi-webhooks.ts'
import { isStreamed, type StreamShape } from '../bodies/body-stream.ts'
import { isUnscoped, type Operation } from '../operation/operation.ts'
import { errorEnvelope } from '../wire/fields/error.ts'
import { describedField } from '../wire/fields/text-form.ts'

/** Facts of the daemon that the document contains. */
interface DescribedService<C> {
  readonly baseUrl: string
  readonly version: string
  readonly core: C
}

/** Builds the document. Throws an assertion if one schema id has two shapes. */
export const buildOpenApi = <C>(operations: readonly Operation<C>[], service: DescribedService<C>): Json =>
  runAtOnce(buildingOpenApi(operations, service))

/** Builds the document in steps of one operation; the whole document takes half a second. */
export function* buildingOpenApi<C>(operations: readonly Operation<C>[], service: DescribedService<C>): Steps<Json> {
  const schemas = new SchemaCollection()
  const paths = new Map<string, Record<string, unknown>>()
  for (const operation of operations.filter(({ hiddenFromOpenApi }) => !hiddenFromOpenApi)) {
    const methods = paths.get(operation.path) ?? {}
    methods[operation.method.toLowerCase()] = describe(operation, schemas, service.core)
    paths.set(operation.path, methods)
    yield
  }
  const tags = [...new Set(operations.flatMap(({ tags, hiddenFromOpenApi }) => (hiddenFromOpenApi ? [] : tags)))].sort()
  return {
    openapi: '3.1.1',
    info: infoOf(service),
    servers: [{ url: service.baseUrl, description: 'This service' }],
    tags: tags.map((name) => ({ name, ...(Object.hasOwn(tagTexts, name) && { description: tagTexts[name] }) })),
    paths: Object.fromEntries(paths),
    ...(tags.includes('webhooks') && { webhooks: describeWebhooks(schemas) }),
    components: {
      schemas: schemas.named(),
      headers: { RequestId: { description: 'Identifies this request in the logs.', schema: { type: 'string' } } },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or an access token of the authorization server.' },
        operator: { type: 'http', scheme: 'bearer', description: 'The key of the operator of the service.' },
        ...ownSchemes(operations),
      },
    },
  }
}

/** Returns all refusal codes of an operation: its declared codes, and the codes of its input and access. */
export function refusalCodes(operation: Operation<never>): readonly RefusalCode[] {
  const codes = new Set<RefusalCode>(operation.errors)
  if (operation.scope !== 'none') codes.add('unauthorized')
  if (!isUnscoped(operation.scope)) codes.add('insufficient_scope')
  if (operation.feature !== undefined) codes.add('feature_disabled')
  const takesInput = [operation.params, operation.query].some((schema) => Object.keys(schema.shape).length > 0)
  if (takesInput || operation.body) codes.add('validation_failed')
  if (operation.body) codes.add('request_too_large').add('unsupported_media_type')
  if (!operation.isFree) codes.add('rate_limit_exceeded')
  if (!operation.bypassesLoadShedding) codes.add('overloaded')
  return [...codes.add('internal_error')]
}

function describe<C>(operation: Operation<C>, schemas: SchemaCollection, core: C): Json {
  const { description } = operation
  const parameters = [...parametersOf(operation.params, 'path', schemas), ...parametersOf(operation.query, 'query', schemas)]
  return {
    operationId: operation.operationId,
    summary: operation.summary,
    ...(description === undefined ? {} : { description: typeof description === 'function' ? description(core) : description }),
    tags: operation.tags,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(operation.body ? { requestBody: requestBody(operation, operation.body, schemas) } : {}),
    responses: { ...goodResponses(operation, schemas), ...refusalResponses(operation, schemas) },
    security: securityOf(operation),
  }
}

/** Returns the accepted credentials as alternatives; publishable keys are bearer tokens. */
function securityOf({ scope, credentials = ['bearer'] }: Operation<never>): Json[] {
  if (scope === 'operator') return [{ operator: [] }]
  if (scope === 'none') return []
  if (scope === 'person') return [{ session: [] }]
  const names = credentials.map((each) => (each === 'bearer' || !each.scheme ? 'bearer' : each.scheme[0]))
  return [...new Set(names)].map((name) => ({ [name]: name === 'bearer' ? [scope] : [] }))
}

const ownSchemes = (operations: readonly Operation<never>[]): Json =>
  Object.fromEntries(
    operations.flatMap(({ credentials = [] }) => credentials.flatMap((each) => (each === 'bearer' || !each.scheme ? [] : [each.scheme]))),
  )

function parametersOf(fields: z.ZodObject, where: 'path' | 'query', schemas: SchemaCollection): Json[] {
  return Object.entries(fields.shape).map(([name, field]) => {
    const { description, ...schema } = schemas.toJsonSchema(describedField(field as z.ZodType), 'input')
    const required = where === 'path' || !(field as z.ZodType).safeParse(undefined).success
    return { name, in: where, required, ...(description === undefined ? {} : { description }), schema }
  })
}

function requestBody(operation: Operation<never>, body: z.ZodType | StreamShape, schemas: SchemaCollection): Json {
  const example = operation.examples.body
  if (isStreamed(body)) {
    const content = Object.entries(body.mediaTypes).map(([type, schema]) => {
      const shown = type === 'application/json' && example !== undefined ? { example } : {}
      return [type, { schema: schemas.toJsonSchema(schema, 'input'), ...shown }]
    })
    return { required: true, content: Object.fromEntries(content) }
  }
  const content = { schema: schemas.toJsonSchema(body, 'input'), ...(example === undefined ? {} : { example }) }
  return { required: !body.safeParse(undefined).success, content: { 'application/json': content } }
}

function goodResponses(operation: Operation<never>, schemas: SchemaCollection): Json {
  const content = answerContent(operation, schemas)
  const described = [[operation.status ?? 200, 'Done.'] as const, ...Object.entries(operation.otherResponses ?? {})]
  const own = Object.entries(operation.responseHeaders ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  const headers = { ...requestIdHeader, ...Object.fromEntries(own) }
  return Object.fromEntries(described.map(([status, description]) => [status, { description, headers, ...content }]))
}

function answerContent({ response, examples, alsoAsPage }: Operation<never>, schemas: SchemaCollection): Json {
  if ('kind' in response && response.kind === 'none') return {}
  const example = examples.response === undefined ? {} : { example: examples.response }
  if ('kind' in response) return { content: { [response.mediaType]: { schema: {}, ...example } } }
  const page = alsoAsPage ? { 'text/html': { schema: { type: 'string' } } } : {}
  return { content: { 'application/json': { schema: schemas.toJsonSchema(response, 'output'), ...example }, ...page } }
}

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } }

/** Creates one response per status; codes with the same status have named examples. */
function refusalResponses(operation: Operation<never>, schemas: SchemaCollection): Json {
  const schema = schemas.toJsonSchema(errorEnvelope.schema, 'output')
  const responses: Record<string, Json> = {}
  for (const [status, codes] of Map.groupBy(refusalCodes(operation), (code) => refusals[code].http)) {
    const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }]))
    const description = `Refused: ${codes.join(', ')}.`
    responses[status] = { description, headers: requestIdHeader, content: { 'application/json': { schema, examples } } }
  }
  return responses
}

function exampleOf(code: RefusalCode): Json {
  return { error: { code, message: 'A sentence that states the problem and the next step.', next_action: refusals[code].nextAction } }
}
