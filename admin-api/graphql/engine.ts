/**
 * GraphQL on top of the actions: parses, validates and runs documents. Loaded with the first request, since many daemons never receive one.
 */
import {
  execute,
  GraphQLError,
  Kind,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
} from 'graphql'
import { createHandler, type OperationArgs, type RequestParams } from 'graphql-http'
import { Refusal } from '#core/refusals.ts'
import { raw, type Answer } from '../operation/answer.ts'
import { restTable } from '../rest/rest-operations.ts'
import { requireAffordable } from './cost.ts'
import type { GraphqlCall, GraphqlOptions } from './graphql-options.ts'
import { GraphqlRequest, interrupted } from './graphql-request.ts'
import { beyond, limits, requireWithinLimits } from './limits.ts'
import { boundActions } from './root-fields.ts'
import { buildGraphqlSchema, type Schema } from './schema.ts'

export type Engine = (call: GraphqlCall) => Promise<Answer>

/** Maximum number of errors for a document. */
const maxErrors = 20
const media = 'application/graphql-response+json'

/** The schema of the service, shared by all daemons of a process. */
export const builtSchema: Schema = buildGraphqlSchema(boundActions(restTable))

export function graphqlEngine(options: GraphqlOptions): Engine {
  const handler = createHandler<undefined, GraphqlRequest, Record<never, never>>({
    parseRequestParams: ({ context }) => context.call.params,
    onSubscribe: ({ context }, params) => prepared(builtSchema, context, params),
    execute: run,
    onOperation: ({ context }, _args, result) => forCaller(result, context),
  })
  return async (call) => {
    const [body, { status, headers }] = await handler({
      method: call.method,
      url: '',
      headers: { accept: call.headers.accept?.includes(media) ? media : '*/*' },
      body: null,
      raw: undefined,
      context: new GraphqlRequest(options, call, builtSchema.related),
    })
    return raw(body ?? '', { status, contentType: headers?.['content-type'] ?? 'application/json' })
  }
}

/** Returns the arguments of the execution, or the errors of the document. Runs no field. */
function prepared(built: Schema, request: GraphqlRequest, params: RequestParams): OperationArgs<Record<never, never>> | GraphQLError[] {
  try {
    const document = parsed(params.query)
    requireWithinLimits(document)
    const faults = validate(built.schema, document, specifiedRules, { maxErrors })
    return faults.length > 0 ? faults.map((fault) => request.refusedDocument(fault)) : argsOf(built, request, document, params)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'method_not_allowed') throw error
    return [request.refusedDocument(error)]
  }
}

function argsOf(
  { schema, fields }: Schema,
  request: GraphqlRequest,
  document: DocumentNode,
  params: RequestParams,
): OperationArgs<Record<never, never>> {
  const { method, signal } = request.call
  const operation = operationOf(document, params.operationName)
  const isMutation = operation.operation === 'mutation'
  if (isMutation && method === 'GET')
    throw new Refusal('method_not_allowed', 'Send a mutation with POST.', { details: { allow: ['POST'] } })
  const variables = params.variables ?? {}
  requireAffordable({ operation, fragments: fragmentsOf(document), variables }, fields)
  return {
    schema,
    document,
    operationName: params.operationName ?? null,
    variableValues: variables,
    contextValue: request,
    options: { maxCoercionErrors: maxErrors },
    // a mutation that has started is never aborted; its outcome is the response
    ...(!isMutation && { abortSignal: signal }),
  }
}

function parsed(query: string): DocumentNode {
  if (Buffer.byteLength(query) > limits.documentLength) throw beyond('documentLength')
  try {
    return parse(query, { maxTokens: limits.tokens })
  } catch (error) {
    throw error instanceof GraphQLError && error.message.includes('Parsing aborted') ? beyond('tokens') : error
  }
}

function operationOf({ definitions }: DocumentNode, name: string | null | undefined): OperationDefinitionNode {
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
  const [first, second] = operations
  const found = name ? operations.find((one) => one.name?.value === name) : second ? undefined : first
  if (found) return found
  throw new Refusal('validation_failed', 'operationName: must be the name of an operation in the document.')
}

const fragmentsOf = ({ definitions }: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> =>
  new Map(definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION).map((fragment) => [fragment.name.value, fragment]))

async function run(args: ExecutionArgs): Promise<ExecutionResult> {
  try {
    return await execute(args)
  } catch (error) {
    throw args.abortSignal?.aborted ? interrupted() : error
  }
}

function forCaller({ data, errors }: ExecutionResult, request: GraphqlRequest): ExecutionResult {
  return { ...(errors && { errors: errors.map((error) => request.failedField(error)) }), ...(data !== undefined && { data }) }
}
