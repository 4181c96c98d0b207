/** Which tools a client is shown: those that it asked for, that its organization may use, and that its token could reach. */
import type { IncomingHttpHeaders } from 'node:http'
import type { AgentAccess } from '#core/access/principal/principal.ts'
import { featureBar, type FeatureSettings } from '#core/plan/features.ts'
import { invalid } from '#core/refusals.ts'
import { toolsets, type Toolset } from '../../actions/tool-binding.ts'
import type { Tool } from './tool.ts'

/** What a client narrows its list to. */
export interface Selection {
  /** Undefined: all of them. */
  readonly toolsets: ReadonlySet<Toolset> | undefined
  readonly readOnly: boolean
}

const toolsetsHeader = 'x-service-toolsets'

export const everything: Selection = { toolsets: undefined, readOnly: false }

/** The query comes before the header. Throws `validation_failed` for a set that there is not. */
export function selectionOf(
  query: { readonly toolsets?: string | undefined; readonly readonly?: boolean | undefined },
  headers: IncomingHttpHeaders,
): Selection {
  const given = query.toolsets ?? headers[toolsetsHeader]
  if (given === undefined && !query.readonly) return everything
  const names = String(given ?? '').split(',')
  const named = names.map((name) => name.trim()).filter((name) => name !== '')
  const unknown = named.find((name) => !toolsets.includes(name as Toolset))
  if (unknown !== undefined)
    throw invalid([{ path: 'toolsets', message: `${unknown.slice(0, 40)} is not a toolset; known are ${toolsets.join(', ')}` }])
  return { toolsets: named.length === 0 ? undefined : new Set(named as Toolset[]), readOnly: query.readonly ?? false }
}

/** The selection within the groups of tools that the user of the token allowed. */
export function withinGrant(selection: Selection, agent: AgentAccess | undefined): Selection {
  const allowed = agent?.toolsets
  if (!allowed) return selection
  return {
    ...selection,
    toolsets: new Set((selection.toolsets ? [...selection.toolsets] : toolsets).filter((name) => allowed.includes(name))),
  }
}

export const isSelected = (tool: Tool, { toolsets: wanted, readOnly }: Selection): boolean =>
  (wanted === undefined || wanted.has(tool.binding.toolset)) && (!readOnly || tool.readOnly)

/**
 * Whether a tool is listed. A user can be asked for more scopes, so that theirs are shown as far as their role goes; who is anonymous
 * cannot.
 */
export const isListed = (tool: Tool, agent: AgentAccess, organization: FeatureSettings, selection: Selection): boolean =>
  tool.level <= agent.mostLevel &&
  isSelected(tool, selection) &&
  (tool.feature === undefined || featureBar(organization, tool.feature) === undefined)
