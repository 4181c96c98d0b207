/** Completion of arguments of resources and prompts: the user types a name, and the completion is an id. */
import { presetIds } from '#config/mail/presets.ts'
import { Refusal } from '#core/refusals.ts'
import { providerIds } from '../../wire/routing/provider.ts'
import { topics } from './guides.ts'
import type { ToolResult } from '../tools/tool.ts'

export interface Asked {
  /** Template of the resource, or name of the prompt. */
  readonly of: string
  readonly argument: string
  readonly value: string
}

/** Reads a list with the tool of this name. Throws `Refusal`. */
export type List = (tool: string, given: Readonly<Record<string, unknown>>) => Promise<ToolResult>

interface Choice {
  readonly value: string
  /** Display name of the value. */
  readonly name: string
}

const maxValues = 100
const maxTyped = 200

const fixed = (values: readonly string[]): (() => Promise<readonly Choice[]>) => {
  const choices = values.map((value) => ({ value, name: value }))
  return async () => choices
}

const listed =
  (tool: string, id: string, name: string, given = {}) =>
  async (list: List): Promise<readonly Choice[]> => {
    const { data } = await list(tool, given)
    return (data as readonly Readonly<Record<string, string | undefined>>[]).map((row) => ({ value: row[id] ?? '', name: row[name] ?? '' }))
  }

const destinations = listed('email_provider_list', 'id', 'name')
const templates = listed('email_template_list', 'id', 'name')
const traces = listed('email_traces_search', 'trace_id', 'untrusted_subject', { filter: { limit: 100 } })
const providers = fixed([...new Set<string>([...providerIds, ...presetIds])])

const sources: Readonly<Record<string, (list: List) => Promise<readonly Choice[]>>> = {
  'email://destinations/{id}/health id': destinations,
  'email://destinations/{id}/recent_traces id': destinations,
  'email://traces/{message_id} message_id': traces,
  'email://templates/{id} id': templates,
  'docs://guide/{topic} topic': fixed(topics),
  'diagnose_missing_email time_window': fixed(['1h', '24h', '7d', '30d']),
  'set_up_transactional_email provider': providers,
  'migrate_provider from': providers,
  'migrate_provider to': providers,
  'score_my_email template_id': templates,
}

/** Returns choices whose name contains the typed text or whose value begins with it. */
export async function completed({ of, argument, value }: Asked, list: List) {
  const typed = value.slice(0, maxTyped).toLowerCase()
  const matches = ({ value: one, name }: Choice): boolean => one.toLowerCase().startsWith(typed) || name.toLowerCase().includes(typed)
  const found = (await choicesOf(`${of} ${argument}`, list)).filter(matches)
  return { values: found.slice(0, maxValues).map(({ value: one }) => one), total: found.length, hasMore: found.length > maxValues }
}

/** Returns no choices if the caller may not list them. */
async function choicesOf(name: string, list: List): Promise<readonly Choice[]> {
  try {
    return Object.hasOwn(sources, name) ? ((await sources[name]?.(list)) ?? []) : []
  } catch (error) {
    if (error instanceof Refusal) return []
    throw error
  }
}
