/**
 * Resources: data that a client can add to the model's context without a call. Each has an address and an action that reads it, with its
 * checks and labels. Spec "MCP resources".
 */
import assert from 'node:assert'
import { Refusal } from '#core/refusals.ts'
import type { Action } from '../../actions/action.ts'
import type { Operation } from '../../operation/operation.ts'
import type { RestCore } from '../../rest/rest-core.ts'
import { guide, guideUri, isTopic, topics } from './guides.ts'
import { toolOf, type Tool, type ToolResult } from '../tools/tool.ts'

type Given = Readonly<Record<string, unknown>>
type Parameters = Readonly<Record<string, string>>

interface Listed {
  /** An address, or a template of addresses (RFC 6570 level 1). */
  readonly uri: string
  readonly name: string
  readonly title: string
  readonly description: string
  /** Importance to a model, from 0 to 1. */
  readonly priority: number
}

interface ResourceEntry extends Listed {
  /** The id of the action that reads the resource. */
  readonly action: string
  readonly given: (parameters: Parameters) => Given
  /** Read before the resource. It throws `not_found` if the parent does not exist. */
  readonly first?: { readonly action: string; readonly given: (parameters: Parameters) => Given }
  /** Searched if the resource is not found by its id, for example by Message-ID. */
  readonly search?: { readonly action: string; readonly given: (parameters: Parameters) => Given; readonly meant: Meant }
}

/** Returns the parameters of the intended resource from the search result. */
type Meant = (found: ToolResult, parameters: Parameters) => Parameters | undefined

/** A resource and the tools that read it. */
export interface Resource extends Listed {
  readonly tool: Tool
  readonly first: Tool | undefined
  readonly search: Tool | undefined
  readonly entry: ResourceEntry
}

const one = ({ id }: Parameters): Given => ({ id })

const withoutBrackets = (id = ''): string => id.replace(/^<|>$/g, '')

const ofMessageId: Meant = ({ data }, { message_id: id }) => {
  const rows = data as readonly { readonly trace_id: string; readonly untrusted_message_id: string }[]
  const found = rows.find(({ untrusted_message_id: one }) => withoutBrackets(one) === withoutBrackets(id))
  return found && { message_id: found.trace_id }
}

const entries: readonly ResourceEntry[] = [
  {
    ...{ uri: 'project://current', name: 'project', title: 'This project', priority: 1, action: 'getMyProject', given: () => ({}) },
    description: 'The project of the token: whether it is claimed, its plan, sends today and their cap.',
  },
  {
    ...{ uri: 'email://destinations', name: 'destinations', title: 'Destinations', priority: 0.8, action: 'listDestinations' },
    description: 'The providers that deliver mail, with their modes.',
    given: () => ({ limit: 200 }),
  },
  {
    ...{ uri: 'email://destinations/{id}/health', name: 'destination_health', title: 'Health of a destination', priority: 0.6 },
    description: 'Reachability, TLS, sign-in, errors and latency of the last hour.',
    ...{ action: 'getDestinationHealth', given: one },
  },
  {
    ...{ uri: 'email://destinations/{id}/recent_traces', name: 'destination_traces', title: 'Latest messages of a destination' },
    ...{ description: 'The last 50 messages routed to the destination, newest first.', priority: 0.5, action: 'searchTraces' },
    given: ({ id }) => ({ filter: { destination_id: id, limit: 50 } }),
    first: { action: 'getDestination', given: one },
  },
  {
    ...{ uri: 'email://traces/{message_id}', name: 'trace', title: 'Trace of a message', priority: 0.7, action: 'lookUpTrace' },
    description: 'Outcome, route, attempts and reports of one message, by its trace id or its Message-ID.',
    given: ({ message_id: id }) => ({ trace_id: id?.slice(0, 64) }),
    search: {
      action: 'searchTraces',
      given: ({ message_id: id }) => ({ filter: { q: withoutBrackets(id).slice(0, 200) } }),
      meant: ofMessageId,
    },
  },
  {
    ...{ uri: 'email://templates/{id}', name: 'template', title: 'A template', priority: 0.5, action: 'getTemplate', given: one },
    description: 'The current version of a template.',
  },
  {
    ...{ uri: 'email://policies/failover', name: 'failover', title: 'Failover policies', priority: 0.5, action: 'listFailoverPolicies' },
    description: 'The fallback destinations for a failing destination.',
    given: () => ({ limit: 200 }),
  },
  {
    ...{ uri: 'email://policies/routing', name: 'routing', title: 'Routing rules', priority: 0.6, action: 'listRoutingRules' },
    description: 'The rules that choose the destination of a message. The lowest priority number matches first.',
    given: () => ({ limit: 200 }),
  },
]

/** Returns the resources that the actions of a table read. */
export function resourcesOf(table: readonly (Action<RestCore> | Operation<RestCore>)[]): readonly Resource[] {
  const toolFor = (id: string, { uri, description }: Listed, given: Given): Tool => {
    const action = table.find((entry): entry is Action<RestCore> => 'run' in entry && entry.id === id)
    assert(action, `no action is called ${id}`)
    const { untrusted = [], reachesOrganization } = action.tool ?? {}
    const binding = { name: uri, toolset: 'account', description, arguments: Object.keys(given), untrusted } as const
    return toolOf(action, { ...binding, ...(reachesOrganization && { reachesOrganization }) })
  }
  return entries.map((entry) => {
    const { uri, name, title, description, priority, action, given, first, search } = entry
    return {
      ...{ uri, name, title, description, priority, entry, tool: toolFor(action, entry, given({})) },
      first: first && toolFor(first.action, entry, first.given({})),
      search: search && toolFor(search.action, entry, search.given({})),
    }
  })
}

const isTemplate = ({ uri }: Listed): boolean => uri.includes('{')

const maxUri = 1000

/** Returns the parameters in the address; undefined if the address does not match the template. */
function parametersOf(template: string, uri: string): Parameters | undefined {
  const pattern = template.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll(/\{(\w+)\}/g, '(?<$1>[^/?#]{1,400})')
  const groups = new RegExp(`^${pattern}$`).exec(uri)
  if (!groups) return undefined
  try {
    return Object.fromEntries(Object.entries(groups.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]))
  } catch {
    return undefined // not UTF-8
  }
}

/** Contents of a resource in the protocol. */
export interface Contents {
  readonly uri: string
  readonly mimeType: string
  readonly text: string
}

/** Reads with one tool. Throws `Refusal`. */
export type Read = (tool: Tool, given: Given) => Promise<ToolResult>

/** Returns undefined if no resource has the address, or if its object does not exist. Throws other refusals. */
export async function contentsOf(resources: readonly Resource[], uri: string, read: Read): Promise<Contents | undefined> {
  if (uri.length > maxUri) return undefined
  const topic = uri.slice(guideUri('' as never).length)
  if (isTopic(topic) && uri === guideUri(topic)) return { uri, mimeType: 'text/markdown', text: (await guide(topic)).text }
  for (const resource of resources) {
    const parameters = parametersOf(resource.uri, uri)
    if (!parameters) continue
    try {
      const result = await resultOf(resource, parameters, read)
      return result && { uri, mimeType: 'application/json', text: JSON.stringify(result) }
    } catch (error) {
      if (error instanceof Refusal && error.code === 'not_found') return undefined
      throw error
    }
  }
  return undefined
}

/** Returns undefined if neither the read nor the search finds the object. */
async function resultOf({ tool, first, search, entry }: Resource, parameters: Parameters, read: Read): Promise<ToolResult | undefined> {
  if (first) await read(first, entry.first?.given(parameters) ?? {})
  const result = await read(tool, entry.given(parameters))
  if (result['found'] !== false) return result
  const meant = search && entry.search?.meant(await read(search, entry.search.given(parameters)), parameters)
  return meant && read(tool, entry.given(meant))
}

const listedJson = ({ name, title, description, priority }: Listed, mimeType = 'application/json') => ({
  ...{ name, title, description, mimeType },
  annotations: { audience: ['assistant'], priority },
})

/** Returns the entries of `resources/list`: resources with a fixed address, and one guide for each topic. */
export async function listedResources(resources: readonly Resource[]): Promise<readonly object[]> {
  const fixed = resources.filter((resource) => !isTemplate(resource)).map((resource) => ({ uri: resource.uri, ...listedJson(resource) }))
  const guides = topics.map(async (topic) => {
    const { text, lastModified } = await guide(topic)
    const about = { uri: guideUri(topic), name: `guide_${topic}`, title: /^# (.+)$/m.exec(text)?.[1] ?? topic }
    const annotations = { audience: ['user', 'assistant'], priority: 0.4, lastModified }
    return { ...about, description: `How ${topic} works here.`, mimeType: 'text/markdown', size: Buffer.byteLength(text), annotations }
  })
  return [...fixed, ...(await Promise.all(guides))]
}

const guideTemplate: Listed = {
  ...{ uri: 'docs://guide/{topic}', name: 'guide', title: 'A chapter of the documentation', priority: 0.4 },
  description: `Topics: ${topics.join(', ')}.`,
}

/** Returns the entries of `resources/templates/list`. */
export const listedTemplates = (resources: readonly Resource[]): readonly object[] => [
  ...resources.filter(isTemplate).map((resource) => ({ uriTemplate: resource.uri, ...listedJson(resource) })),
  { uriTemplate: guideTemplate.uri, ...listedJson(guideTemplate, 'text/markdown') },
]
