/**
 * Rounds of a call whose message waits for approval. Clients of 2026-07-28 that can show a page are requested to show it and to repeat the
 * call with the user's response. All other clients get the link as the result.
 *
 * The core decides the approval. The state that the client carries is a trace id, which the core checks against the rights of the current
 * caller.
 */
import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server'
import type { Continued } from '../actions/action.ts'
import type { CallResult } from './tools/tool-results.ts'

type Sdk = typeof import('@modelcontextprotocol/server')

const key = 'approval'

/** Returns the earlier round that this request continues. */
export function roundOf({ requestState, inputResponses }: ServerContext['mcpReq']): Continued | undefined {
  const traceId = requestState<string>()
  if (traceId === undefined) return undefined
  const { action } = Object(inputResponses?.[key]) as { readonly action?: unknown }
  return { traceId, isDeclined: action === 'decline' }
}

/** Returns the request to show the approval page, if the result waits for approval and the client can show a page. */
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
    'This message goes to real recipients. Open the page to review it, then approve or refuse it. It is sent only after you approve it.'
  return sdk.inputRequired({
    inputRequests: { [key]: sdk.inputRequired.elicitUrl({ message, url: approval.url }) },
    requestState: traceId,
  })
}
