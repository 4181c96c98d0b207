/**
 * Errors of requests as the protocol shows them. The package answers malformed parameters with the text of its validator, and any other
 * error with its message.
 */
import type { JSONRPCRequest, Server, ServerContext } from '@modelcontextprotocol/server'
import { Refusal } from '#core/refusals.ts'
import { problemsOf, type Issue } from '../bodies/validation.ts'
import { envelope } from '../http/rendering.ts'

type Sdk = typeof import('@modelcontextprotocol/server')

/** How the package begins its protocol errors with text of the validator. */
const malformedCall = 'Invalid tools/call request: '
const malformedResult = 'Invalid tools/call result: '

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Record<string, unknown>>

/** Reports a defect of this service. Returns the message for the client. */
export type OnDefect = (error: unknown, method: string) => Refusal

/** Sentences about parameters that make the package refuse a message as a whole, by the id of the request. */
export type WrongParameters = ReadonlyMap<unknown, string>

/**
 * The package refuses a request, and the batch with it, for a wrong type in the parameters that all methods have, such as `_meta`. Returns
 * the body without these parts, for a server that answers each such request with the sentence.
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

/** Of a field of `params._meta`. */
const depthOfMeta = 3

function removeAt(value: object, path: readonly PropertyKey[]): void {
  const parent = path.slice(0, -1).reduce((at: unknown, key) => (Object(at) as Readonly<Record<PropertyKey, unknown>>)[key], value)
  Reflect.deleteProperty(Object(parent) as object, path.at(-1) ?? '')
}

/** The server of the package with sentences in its errors, whatever the revision, in a batch too. */
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

/** A refusal outside of tools is an error of the protocol with the envelope as its data. */
function protocolErrorOf(sdk: Sdk, error: unknown, refusalOf: (defect: unknown) => Refusal): Error {
  if (error instanceof sdk.ProtocolError && !error.message.startsWith(malformedResult)) return error
  const { InternalError, InvalidParams } = sdk.ProtocolErrorCode
  const refusal = error instanceof Refusal ? error : refusalOf(error)
  const code = refusal.code === 'internal_error' ? InternalError : InvalidParams
  return new sdk.ProtocolError(code, refusal.message, JSON.parse(envelope(refusal)) as object)
}

/** The issues in an error of the package's validator, which writes them as JSON at the end of the message. */
function issuesIn(sdk: Sdk, error: unknown): readonly Issue[] | undefined {
  if (!(error instanceof Error) || !isOfValidator(sdk, error)) return undefined
  try {
    const issues: unknown = JSON.parse(error.message.slice(error.message.indexOf('[')))
    return Array.isArray(issues) ? (issues as readonly Issue[]) : undefined
  } catch {
    return undefined
  }
}

/** The package throws a bare `Error`, or a protocol error about a call. */
const isOfValidator = (sdk: Sdk, error: Error): boolean =>
  error instanceof sdk.ProtocolError ? error.message.startsWith(malformedCall) : error.constructor === Error
