/**
 * A call whose message waits for a person: clients of 2026-07-28 that can show a page are asked to, and repeat the call with what came of
 * it; all others get the link as the result. What is approved, and whether, is the core's; the state that the client carries is an id
 * that the core looks up with the rights of whoever repeats the call.
 */
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import type { Continued } from '../actions/action.ts'
import type { CallResult } from './tools/tool-results.ts'

type Sdk = typeof import('@modelcontextprotocol/server')

const key = 'approval'

/** The earlier round that this one follows. */
export function roundOf({ requestState, inputResponses }: ServerContext['mcpReq']): Continued | undefined {
  const traceId = requestState<string>()
  if (traceId === undefined) return undefined
  const { action } = Object(inputResponses?.[key]) as { readonly action?: unknown }
  return { traceId, isDeclined: action === 'decline' }
}

/** What the client is to show its user, where the result waits for them and the client can. */
export function askedFor(sdk: Sdk, result: CallResult, { envelope }: ServerContext['mcpReq']): InputRequiredResult | undefined {
  const { approval, trace_id: traceId } = result.structuredContent as {
    readonly approval?: { readonly url: string }
    readonly trace_id?: string
  }
  const declared: Readonly<Record<string, unknown>> = { ...envelope }
  const capabilities = declared[sdk.CLIENT_CAPABILITIES_META_KEY]
  const { elicitation } = Object(capabilities) as { readonly elicitation?: { readonly url?: unknown } }
  if (!approval || traceId === undefined || elicitation?.url === undefined) return undefined
  const message =
    'This message goes to real recipients. Open the page, look at it, and approve or refuse it; it leaves when you have approved it.'
  return sdk.inputRequired({
    inputRequests: { [key]: sdk.inputRequired.elicitUrl({ message, url: approval.url }) },
    requestState: traceId,
  })
}
