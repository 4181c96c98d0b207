/** Which destination takes a message, and why. Pure; the caller supplies the settings. */
import { foldAddress } from '../addresses.ts'
import { Refusal } from '../refusals.ts'
import type { Destination } from './destination.ts'
import type { RoutingRule, RuleMatch } from './rule.ts'

/** The answer of routing. `reason` is a sentence for the trace. */
export interface Route {
  readonly by: 'request' | 'credential' | 'rule' | 'none'
  readonly destination: Destination | undefined
  readonly ruleId: string | null
  readonly reason: string
}

interface RoutingSettings {
  readonly destinations: ReadonlyMap<string, Destination>
  readonly rules: ReadonlyMap<string, readonly RoutingRule[]>
}

export interface RouteQuestion {
  readonly projectId: string
  /** The address that rules look at: header From, or MAIL FROM where that cannot be read. */
  readonly from: string
  readonly asked?: { readonly by: 'request' | 'credential'; readonly destinationId: string } | undefined
}

/** Smaller priority first; among equals the more specific, then the older rule. */
export const orderRules = (rules: readonly RoutingRule[]): RoutingRule[] =>
  rules.toSorted(
    (a, b) => a.priority - b.priority || breadth(a.match) - breadth(b.match) || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1),
  )

/** Throws `destination_misconfigured` when a destination was asked for by name and is not there (deleted, or of another project). */
export function matchRoute(settings: RoutingSettings, question: RouteQuestion): Route {
  const { asked, projectId } = question
  if (asked) {
    const destination = settings.destinations.get(asked.destinationId)
    if (!destination || destination.projectId !== projectId) throw missingDestination(asked)
    const who = asked.by === 'request' ? 'The request' : 'The SMTP credential'
    return { by: asked.by, destination, ruleId: null, reason: `${who} names the destination ${destination.name}.` }
  }
  for (const rule of settings.rules.get(projectId) ?? []) {
    const destination = settings.destinations.get(rule.destinationId)
    if (!destination || !matches(rule.match, question.from)) continue
    return {
      by: 'rule',
      destination,
      ruleId: rule.id,
      reason: `Rule ${describe(rule.match)} (priority ${rule.priority}) names the destination ${destination.name}.`,
    }
  }
  return {
    by: 'none',
    destination: undefined,
    ruleId: null,
    reason: `No routing rule of the project matches ${question.from || 'the message'}.`,
  }
}

function missingDestination(asked: { readonly by: 'request' | 'credential'; readonly destinationId: string }): Refusal {
  if (asked.by === 'credential') {
    return new Refusal('destination_misconfigured', 'The default destination of this SMTP credential no longer exists; set another one.', {
      nextAction: 'update_smtp_credential',
    })
  }
  return new Refusal('validation_failed', 'destination_id: no destination of this project has this id', {
    details: { fields: [{ path: 'destination_id', message: 'no destination of this project has this id' }] },
  })
}

function matches(match: RuleMatch, from: string): boolean {
  if ('any' in match) return true
  const folded = foldAddress(from)
  if ('from' in match) return folded === match.from
  return folded.slice(folded.lastIndexOf('@') + 1) === match.domain
}

const breadth = (match: RuleMatch): number => ('from' in match ? 0 : 'domain' in match ? 1 : 2)
const describe = (match: RuleMatch): string =>
  'from' in match ? `from ${match.from}` : 'domain' in match ? `domain ${match.domain}` : 'any'
