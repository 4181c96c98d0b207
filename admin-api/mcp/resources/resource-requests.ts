/** Protocol requests for resources, and for completion of arguments of resources and prompts. */
import type { Server } from '@modelcontextprotocol/server'
import type { FeatureSettings } from '#core/plan/features.ts'
import { completed } from './completion.ts'
import { contentsOf, listedResources, listedTemplates, type Resource } from './resources.ts'
import { everything, isListed } from '../tools/selection.ts'
import type { Tool } from '../tools/tool.ts'
import type { Caller, ToolCalls } from '../tools/tool-calls.ts'

type Sdk = typeof import('@modelcontextprotocol/server')

export interface ResourceOptions {
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly calls: ToolCalls
  readonly organizationOf: (organizationId: string) => Promise<FeatureSettings>
  /** Aborts when the service stops, which ends waiting reads. */
  readonly closing: AbortSignal
}

export function addResources(server: Server, sdk: Sdk, options: ResourceOptions, caller: Caller): void {
  const { calls, closing, tools } = options
  server.setRequestHandler('resources/list', async () => ({
    resources: (await listedResources(await reachable(options, caller))) as never,
  }))
  server.setRequestHandler('resources/templates/list', async () => ({
    resourceTemplates: listedTemplates(await reachable(options, caller)) as never,
  }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq }) => {
    const signal = AbortSignal.any([mcpReq.signal, closing])
    const found = await contentsOf(options.resources, uri, (tool, given) => calls.read(caller, tool, given, { signal }))
    if (!found) throw new sdk.ResourceNotFoundError(uri.slice(0, 1000), 'No resource has this address.')
    return { contents: [{ ...found }] }
  })
  server.setRequestHandler('completion/complete', async ({ params: { ref, argument } }, { mcpReq }) => {
    const of = ref.type === 'ref/prompt' ? ref.name : ref.uri
    const list = (name: string, given: object) => {
      const tool = tools.find(({ binding }) => binding.name === name)
      if (!tool) throw new Error(`no tool is called ${name}`)
      return calls.read(caller, tool, given, mcpReq)
    }
    return { completion: await completed({ of, argument: argument.name, value: argument.value }, list) }
  })
}

/** Returns the resources that the organization may use. */
async function reachable({ resources, organizationOf }: ResourceOptions, { principal }: Caller): Promise<readonly Resource[]> {
  const { agent, organizationId } = principal
  const organization = await organizationOf(organizationId)
  return resources.filter(({ tool }) => agent && isListed(tool, agent, organization, everything))
}
