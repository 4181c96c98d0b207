/**
 * The Model Context Protocol over the tools, in both eras: 2025-03-26 to 2025-11-25, and 2026-07-28. Requests are independent: there are no
 * sessions, and the token determines the project.
 */
import type { McpRequestContext, Server, ServerEventBus } from '@modelcontextprotocol/server'
import type { Refusal } from '#core/refusals.ts'
import { guide, guideUri } from './resources/guides.ts'
import { instructions } from './instructions.ts'
import { problemOf, prompts, textOf } from './prompts.ts'
import { serverClass, withoutWrongParameters, type WrongParameters } from './request-errors.ts'
import { addResources, type ResourceOptions } from './resources/resource-requests.ts'
import type { Caller } from './tools/tool-calls.ts'
import { addTools, type ToolOptions } from './tools/tool-requests.ts'

export interface ProtocolOptions extends ResourceOptions, ToolOptions {
  readonly version: string
  /** Public address of the service. */
  readonly website: string
  /** Subscriptions to changes of the tool list. */
  readonly bus: ServerEventBus
  readonly onError: (error: Error) => void
  /** Reports a defect that a request revealed. Returns the message for the caller. */
  readonly onDefect: (error: unknown, caller: Caller, method: string) => Refusal
}

/** How long clients may cache a list. */
const listMs = 60_000
const cachedLists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'server/discover'] as const

/** Returns the description of the server in the protocol. */
export const identityOf = ({ version, website }: Pick<ProtocolOptions, 'version' | 'website'>) => ({
  ...{ name: 'postern', title: 'Postern', version, websiteUrl: website },
})

/** Facts about the request that a server is made for. */
interface CallFacts {
  readonly caller: Caller
  readonly wrong: WrongParameters
}

export interface ProtocolHandler {
  answer(request: Request, caller: Caller, parsedBody: unknown): Promise<Response>
  close(): Promise<void>
}

/** Loads the package at the first call, since many daemons receive no MCP request. */
export async function mcpHandler(options: ProtocolOptions): Promise<ProtocolHandler> {
  const sdk = await import('@modelcontextprotocol/server')
  const factory = (context: McpRequestContext): Server => {
    const { caller, wrong } = Object(context.authInfo?.extra) as CallFacts
    const OwnServer = serverClass(sdk, (error, method) => options.onDefect(error, caller, method), wrong)
    const server = new OwnServer(identityOf(options), {
      capabilities: { tools: { listChanged: context.era === 'modern' }, prompts: {}, resources: {}, completions: {} },
      instructions,
      cacheHints: {
        ...Object.fromEntries(cachedLists.map((method) => [method, { ttlMs: listMs, cacheScope: 'private' }])),
        'resources/read': { ttlMs: 0, cacheScope: 'private' },
      },
    })
    addTools(server, sdk, options, { caller, era: context.era })
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
    return server
  }
  const handler = sdk.createMcpHandler(factory, { onerror: options.onError, bus: options.bus })
  return {
    close: handler.close,
    answer: (request, caller, parsedBody) => {
      const { body, wrong } = withoutWrongParameters(sdk, parsedBody)
      const { credentialId: clientId, scopes } = caller.principal
      const extra: CallFacts = { caller, wrong }
      return handler.fetch(request, { parsedBody: body, authInfo: { token: '', clientId, scopes: [...scopes], extra: { ...extra } } })
    },
  }
}
