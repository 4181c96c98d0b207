/** Errors of requests in the protocol. They replace the texts of the package's validator and the messages of unexpected errors. */
import type { JSONRPCRequest, Server, ServerContext } from '@modelcontextprotocol/server'
import { Refusal } from '#core/refusals.ts'
import { problemsOf, type Issue } from '../bodies/validation.ts'
import { envelope } from '../http/rendering.ts'

type Sdk = typeof import('@modelcontextprotocol/server')

/** Beginnings of protocol errors that quote the package's validator. */
const malformedCall = 'Invalid tools/call request: '
const malformedResult = 'Invalid tools/call result: '

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Record<string, unknown>>

/** Reports a defect of this service. Returns the message for the client. */
export type OnDefect = (error: unknown, method: string) => Refusal

/** Error texts for parameters that would make the package refuse a whole message, by request id. */
export type WrongParameters = ReadonlyMap<unknown, string>

/**
 * Returns the body without malformed parts of the common parameters, such as `_meta`. The package refuses the whole batch for a wrong type
 * there. The server then answers each such request with the error text.
 */
export function withoutWrongParameters(sdk: Sdk, body: unknown): { readonly body: unknown; readonly wrong: WrongParameters } {
  const wrong = new Map<unknown, string>()
  const right = (message: unknown): unknown => {
    const { issues = [] } = sdk.specTypeSchemas.JSONRPCRequest['~standard'].validate(message) as { readonly issues?: readonly Issue[] }
    if (issues.length === 0 || issues.some(({ path }) => path[0] !== 'params')) return message
    const request = structuredClone(message) as JSONRPCRequest
    wrong.set(request.id, sentenceOf(issues, request))
    for (const { path } of issues) removeAt(request, path.slice(0, depthOfMeta))
    return request
  }
  return { body: Array.isArray(body) ? body.map(right) : right(body), wrong }
}

/** Depth of a field of `params._meta`. */
const depthOfMeta = 3

function removeAt(value: object, path: readonly PropertyKey[]): void {
  const parent = path.slice(0, -1).reduce((at: unknown, key) => (Object(at) as Readonly<Record<PropertyKey, unknown>>)[key], value)
  Reflect.deleteProperty(Object(parent) as object, path.at(-1) ?? '')
}

/** Returns the package's server class with these error texts for all revisions, also in batches. */
export function serverClass(sdk: Sdk, onDefect: OnDefect, wrong: WrongParameters): typeof Server {
  return class extends sdk.Server {
    protected override _wrapHandler(method: string, handler: Handler): Handler {
      const wrapped = super._wrapHandler(method, handler)
      return async (request, context) => {
        const problem = wrong.get(context.mcpReq.id)
        if (problem !== undefined) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, problem)
        try {
          return await wrapped(request, context)
        } catch (error) {
          throw malformed(sdk, error, request) ?? protocolErrorOf(sdk, error, (defect) => onDefect(defect, method))
        }
      }
    }
  }
}

function malformed(sdk: Sdk, error: unknown, request: JSONRPCRequest): Error | undefined {
  const issues = issuesIn(sdk, error)
  return issues && new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, sentenceOf(issues, request))
}

function sentenceOf(issues: readonly Issue[], request: JSONRPCRequest): string {
  const problems = problemsOf(issues, request, 'params').map(({ path, message }) => `${path}: ${message}`)
  return `The parameters of ${request.method} are malformed: ${problems.join('; ')}.`
}

/** Returns the protocol error for a refusal outside of tools, with the error envelope as data. */
function protocolErrorOf(sdk: Sdk, error: unknown, refusalOf: (defect: unknown) => Refusal): Error {
  if (error instanceof sdk.ProtocolError && !error.message.startsWith(malformedResult)) return error
  const { InternalError, InvalidParams } = sdk.ProtocolErrorCode
  const refusal = error instanceof Refusal ? error : refusalOf(error)
  const code = refusal.code === 'internal_error' ? InternalError : InvalidParams
  return new sdk.ProtocolError(code, refusal.message, JSON.parse(envelope(refusal)) as object)
}

/** Returns the issues in an error of the package's validator. The validator writes them as JSON at the end of the message. */
function issuesIn(sdk: Sdk, error: unknown): readonly Issue[] | undefined {
  if (!(error instanceof Error) || !isOfValidator(sdk, error)) return undefined
  try {
    const issues: unknown = JSON.parse(error.message.slice(error.message.indexOf('[')))
    return Array.isArray(issues) ? (issues as readonly Issue[]) : undefined
  } catch {
    return undefined
  }
}

/** The package throws a plain `Error`, or a protocol error for a call. */
const isOfValidator = (sdk: Sdk, error: Error): boolean =>
  error instanceof sdk.ProtocolError ? error.message.startsWith(malformedCall) : error.constructor === Error
