/**
 * The Model Context Protocol on top of the tools, in both of its eras: 2025-03-26 to 2025-11-25, and 2026-07-28. Every request stands for
 * itself: there are no sessions, and the project is that of the token.
 */
import type { McpHttpHandler, McpRequestContext, Server, ServerEventBus } from '@modelcontextprotocol/server'
import type { Clock } from '#core/clock.ts'
import { askedFor, roundOf } from './approval-round.ts'
import { guide, guideUri } from './resources/guides.ts'
import { instructions } from './instructions.ts'
import { problemOf, prompts, textOf } from './prompts.ts'
import { addResources, type ResourceOptions } from './resources/resource-requests.ts'
import { isListed } from './tools/selection.ts'
import type { Tool } from './tools/tool.ts'
import type { Caller } from './tools/tool-calls.ts'

export interface ProtocolOptions extends ResourceOptions {
  readonly version: string
  /** Public address of the service. */
  readonly website: string
  readonly clock: Clock
  /** Who listens to changes. */
  readonly bus: ServerEventBus
  readonly onError: (error: Error) => void
}

/** How long clients may keep a list. */
const listMs = 60_000
const cachedLists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'server/discover'] as const
/** So often a call that goes on says that it does. Clients give up on silence after a minute. */
const progressMs = 10_000

/** What the server says of itself. */
export const identityOf = ({ version, website }: Pick<ProtocolOptions, 'version' | 'website'>) => ({
  ...{ name: 'postern', title: 'Postern', version, websiteUrl: website },
})

/** The package is loaded with the first request, as many daemons meet none. */
export async function mcpHandler(options: ProtocolOptions): Promise<McpHttpHandler> {
  const sdk = await import('@modelcontextprotocol/server')
  const factory = (context: McpRequestContext): Server => {
    const caller = context.authInfo?.extra?.['caller'] as Caller
    const server = new sdk.Server(identityOf(options), {
      capabilities: { tools: { listChanged: context.era === 'modern' }, prompts: {}, resources: {}, completions: {} },
      instructions,
      cacheHints: {
        ...Object.fromEntries(cachedLists.map((method) => [method, { ttlMs: listMs, cacheScope: 'private' }])),
        'resources/read': { ttlMs: 0, cacheScope: 'private' },
      },
    })
    server.setRequestHandler('tools/list', async () => ({ tools: (await listed(options, caller)).map((tool) => tool.listed) as never }))
    server.setRequestHandler('prompts/list', () => ({
      prompts: prompts.map(({ text: _text, topic: _topic, ...prompt }) => prompt) as never,
    }))
    server.setRequestHandler('prompts/get', async ({ params: { name, arguments: given = {} } }) => {
      const prompt = prompts.find((one) => one.name === name)
      const invalid = (message: string) => new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message)
      if (!prompt) throw invalid('No prompt has this name.')
      const problem = problemOf(prompt, given)
      if (problem !== undefined) throw invalid(problem)
      const chapter = { uri: guideUri(prompt.topic), mimeType: 'text/markdown', text: (await guide(prompt.topic)).text }
      return {
        description: prompt.description,
        messages: [
          { role: 'user', content: { type: 'text', text: textOf(prompt, given) } },
          { role: 'user', content: { type: 'resource', resource: chapter } },
        ],
      }
    })
    addResources(server, sdk, options, caller)
    server.setRequestHandler('tools/call', async ({ params: { name, arguments: given, _meta: meta } }, { mcpReq }) => {
      const continues = roundOf(mcpReq)
      const signal = AbortSignal.any([mcpReq.signal, options.closing])
      const token = meta?.progressToken
      const stop =
        token === undefined
          ? undefined
          : reportProgress(options.clock, (params) =>
              mcpReq.notify({ method: 'notifications/progress', params: { ...params, progressToken: token } }),
            )
      try {
        const result = await options.calls.call(caller, name, given, { signal, continues })
        if (result) return (!continues && askedFor(sdk, result, mcpReq)) || { ...result }
      } finally {
        stop?.()
      }
      const near = options.calls.near(name)
      const hint = near === undefined ? '' : `; did you mean ${near}?`
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `No tool is called ${name.slice(0, 80)}${hint}`)
    })
    return server
  }
  return sdk.createMcpHandler(factory, { onerror: options.onError, bus: options.bus })
}

/** The tools that the caller is shown. */
export async function listed(
  { tools, organizationOf }: Pick<ProtocolOptions, 'tools' | 'organizationOf'>,
  { principal, selection }: Caller,
): Promise<readonly Tool[]> {
  const { agent, organizationId } = principal
  const organization = await organizationOf(organizationId)
  return tools.filter((tool) => agent && isListed(tool, agent, organization, selection))
}

interface Progress {
  readonly progress: number
  readonly message: string
}

/** Until the returned function is called. */
function reportProgress(clock: Clock, notify: (progress: Progress) => Promise<void>): () => void {
  let seconds = 0
  const report = (): void => {
    seconds += progressMs / 1000
    timer = clock.after(progressMs, report)
    void notify({ progress: seconds, message: `Under way for ${seconds} seconds` }).catch(() => {}) // the client has gone
  }
  let timer = clock.after(progressMs, report)
  return () => timer.cancel()
}
