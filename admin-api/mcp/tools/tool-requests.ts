/** Protocol requests for tools: the list, and calls with progress notifications and cancellation. */
import type { McpRequestContext, Server } from '@modelcontextprotocol/server'
import type { FeatureSettings } from '#core/plan/features.ts'
import type { Clock } from '#core/clock.ts'
import { runInSteps, type Steps } from '#core/event-loop.ts'
import { askedFor, roundOf } from '../approval-round.ts'
import type { Cancellations } from './cancellations.ts'
import { isListed } from './selection.ts'
import type { Tool } from './tool.ts'
import type { JsonObject } from './tool-schemas.ts'
import type { Caller, ToolCalls } from './tool-calls.ts'

type Sdk = typeof import('@modelcontextprotocol/server')

export interface ToolOptions {
  readonly tools: readonly Tool[]
  readonly calls: ToolCalls
  readonly cancellations: Cancellations
  readonly organizationOf: (organizationId: string) => Promise<FeatureSettings>
  readonly clock: Clock
  /** Aborts when the service stops, which ends waiting calls. */
  readonly closing: AbortSignal
}

/** Interval of progress notifications. Clients give up after a minute of silence. */
const progressMs = 10_000

export function addTools(server: Server, sdk: Sdk, options: ToolOptions, { caller, era }: Connection): void {
  const { calls, cancellations, clock, closing } = options
  server.setRequestHandler('tools/list', async () => ({ tools: (await runInSteps(shown(await listed(options, caller)))) as never }))
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given, _meta: meta } }, { mcpReq }) => {
    const continues = roundOf(mcpReq)
    const mayEnd = era === 'legacy' && calls.isReading(name)
    const cancellable = mayEnd ? cancellations.begin(caller.principal.credentialId, mcpReq.id) : undefined
    const signal = AbortSignal.any([mcpReq.signal, closing, ...(cancellable ? [cancellable.signal] : [])])
    const token = meta?.progressToken
    const stop =
      token === undefined
        ? undefined
        : reportProgress(clock, (params) =>
            mcpReq.notify({ method: 'notifications/progress', params: { ...params, progressToken: token } }),
          )
    try {
      const result = await calls.call(caller, name, given, { signal, continues })
      if (result) return (!continues && askedFor(sdk, result, mcpReq)) || { ...result }
    } finally {
      stop?.()
      cancellable?.over()
    }
    const near = calls.near(name)
    const hint = near === undefined ? '' : `; did you mean ${near}?`
    throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `No tool is called ${name.slice(0, 80)}${hint}`)
  })
}

/** The caller, and the era of the protocol on its connection. */
interface Connection {
  readonly caller: Caller
  readonly era: McpRequestContext['era']
}

/** Returns the tools that the caller sees. */
export async function listed(
  { tools, organizationOf }: Pick<ToolOptions, 'tools' | 'organizationOf'>,
  { principal, selection }: Caller,
): Promise<readonly Tool[]> {
  const { agent, organizationId } = principal
  const organization = await organizationOf(organizationId)
  return tools.filter((tool) => agent && isListed(tool, agent, organization, selection))
}

/** A listing yields to other requests after this number of milliseconds. */
export const stepMs = 4

/** Returns the list entries of the tools, in steps. The first listing builds all schemas, which takes as long as several requests. */
export function* shown(tools: readonly Tool[], now = () => performance.now()): Steps<readonly JsonObject[]> {
  const made: JsonObject[] = []
  let begun = now()
  for (const tool of tools) {
    made.push(tool.listed)
    if (now() - begun < stepMs) continue
    yield
    begun = now()
  }
  return made
}

interface Progress {
  readonly progress: number
  readonly message: string
}

/** Sends progress notifications until the returned function is called. */
function reportProgress(clock: Clock, notify: (progress: Progress) => Promise<void>): () => void {
  let seconds = 0
  const report = (): void => {
    seconds += progressMs / 1000
    timer = clock.after(progressMs, report)
    void notify({ progress: seconds, message: `Running for ${seconds} seconds` }).catch(() => {}) // the client has disconnected
  }
  let timer = clock.after(progressMs, report)
  return () => timer.cancel()
}
