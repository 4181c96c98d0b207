/** Selects the tools in a client's list: requested by the client, allowed for its organization, and within the token's possible scopes. */
import type { IncomingHttpHeaders } from 'node:http'
import type { AgentAccess } from '#core/access/principal/principal.ts'
import { featureBar, type FeatureSettings } from '#core/plan/features.ts'
import { invalid } from '#core/refusals.ts'
import { toolsets, type Toolset } from '../../actions/tool-binding.ts'
import type { Tool } from './tool.ts'

/** The part of the tools that a client requested. */
export interface Selection {
  /** Undefined selects all toolsets. */
  readonly toolsets: ReadonlySet<Toolset> | undefined
  readonly readOnly: boolean
}

const toolsetsHeader = 'x-service-toolsets'

export const everything: Selection = { toolsets: undefined, readOnly: false }

/**
 * Reads the selection from the query, or from the header if the query has no toolsets. Throws `validation_failed` for an unknown toolset.
 */
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
    throw invalid([{ path: 'toolsets', message: `${unknown.slice(0, 40)} is not a toolset; valid names are ${toolsets.join(', ')}` }])
  return { toolsets: named.length === 0 ? undefined : new Set(named as Toolset[]), readOnly: query.readonly ?? false }
}

/** Limits the selection to the toolsets that the user of the token allowed. */
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
 * Returns whether a tool is listed. A user can grant more scopes, so tools up to the user's role are listed. An anonymous holder cannot, so
 * only tools of its scopes are listed.
 */
export const isListed = (tool: Tool, agent: AgentAccess, organization: FeatureSettings, selection: Selection): boolean =>
  tool.level <= agent.mostLevel &&
  isSelected(tool, selection) &&
  (tool.feature === undefined || featureBar(organization, tool.feature) === undefined)
