/** Which destination takes a message, and why. Pure; the caller supplies the settings. */
import { isOpenTo } from '../access/project-choice.ts'
import { foldAddress, parseDomain } from '../addresses.ts'
import { Refusal } from '../refusals.ts'
import type { Destination } from './destination.ts'
import type { RoutingRule, RuleMatch } from './rule.ts'

/** The answer of routing. `reason` is a sentence for the trace. */
export interface Route {
  readonly by: 'request' | 'credential' | 'rule' | 'org_default' | 'none'
  readonly destination: Destination | undefined
  readonly ruleId: string | null
  readonly reason: string
}

export interface RoutingSettings {
  readonly destinations: ReadonlyMap<string, Destination>
  readonly rules: ReadonlyMap<string, readonly RoutingRule[]>
  readonly orgDefault?: Destination | undefined
}

export interface RouteQuestion {
  readonly projectId: string
  /** The address that rules look at: header From, or MAIL FROM where that cannot be read. */
  readonly from: string
  readonly asked?: { readonly by: 'request' | 'credential'; readonly destinationId: string } | undefined
}

/** A rule that was looked at, in the order of looking. The first that matched decides, and no other is looked at. */
export interface RuleLook {
  readonly rule: RoutingRule
  readonly found: 'matched' | 'not_matched' | 'destination_gone'
  /** A sentence for people. */
  readonly message: string
}

/** Smaller priority first; among equals the more specific, then the older rule. */
export const orderRules = (rules: readonly RoutingRule[]): RoutingRule[] =>
  rules.toSorted(
    (a, b) =>
      a.priority - b.priority ||
      breadth(a.match) - breadth(b.match) ||
      depth(b.match) - depth(a.match) ||
      a.createdAt - b.createdAt ||
      (a.id < b.id ? -1 : 1),
  )

/**
 * What the caller named, or else the first rule of the project that matches, or else the organization's default sender.
 * `look` hears of every rule on the way. Throws `destination_misconfigured` or `validation_failed` when a destination was
 * named that is not there for this project (deleted, or of another one).
 */
export function matchRoute(settings: RoutingSettings, question: RouteQuestion, look: (seen: RuleLook) => void = () => {}): Route {
  const { asked, projectId } = question
  if (asked) {
    const destination = settings.destinations.get(asked.destinationId)
    if (!destination || !isOpenTo(destination, projectId)) throw missingDestination(asked)
    const who = asked.by === 'request' ? 'The request' : 'The SMTP credential'
    return { by: asked.by, destination, ruleId: null, reason: `${who} names the destination ${destination.name}.` }
  }
  const sender = senderOf(question.from)
  for (const rule of settings.rules.get(projectId) ?? []) {
    const destination = settings.destinations.get(rule.destinationId)
    const seen = lookAt(rule, destination, projectId, sender)
    look(seen)
    if (seen.found === 'matched') return { by: 'rule', destination, ruleId: rule.id, reason: seen.message }
  }
  const nothing = `No routing rule of the project matches ${question.from || 'the message'}`
  if (settings.orgDefault) {
    const { name } = settings.orgDefault
    const reason = `${nothing}; the organization's default sender takes it, the destination ${name}.`
    return { by: 'org_default', destination: settings.orgDefault, ruleId: null, reason }
  }
  return { by: 'none', destination: undefined, ruleId: null, reason: `${nothing}.` }
}

function lookAt(rule: RoutingRule, destination: Destination | undefined, projectId: string, sender: Sender): RuleLook {
  const about = `Rule ${describe(rule.match)} (priority ${rule.priority})`
  if (!matches(rule.match, sender)) return { rule, found: 'not_matched', message: `${about} does not match.` }
  if (!destination || !isOpenTo(destination, projectId))
    return { rule, found: 'destination_gone', message: `${about} matches, but its destination is gone.` }
  return { rule, found: 'matched', message: `${about} names the destination ${destination.name}.` }
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

interface Sender {
  readonly address: string
  readonly domain: string
}

/** Folded as rules are kept: lower case, and the domain in A-labels. */
function senderOf(from: string): Sender {
  const folded = foldAddress(from)
  const at = folded.lastIndexOf('@') + 1
  const domain = folded.slice(at)
  const ascii = /[^\u0000-\u007f]/.test(domain) ? (parseDomain(domain) ?? domain) : domain
  return { address: folded.slice(0, at) + ascii, domain: ascii }
}

function matches(match: RuleMatch, { address, domain }: Sender): boolean {
  if ('any' in match) return true
  if ('from' in match) return address === match.from
  return isWildcard(match.domain) ? domain.endsWith(match.domain.slice(1)) : domain === match.domain
}

/** `*.b.ch` is for everything that ends in `.b.ch`, so not for `b.ch` itself. */
const isWildcard = (domain: string): boolean => domain.startsWith('*.')
const breadth = (match: RuleMatch): number => ('from' in match ? 0 : 'any' in match ? 3 : isWildcard(match.domain) ? 2 : 1)
/** Of two wildcards that take the same sender, the longer one is below the other. */
const depth = (match: RuleMatch): number => ('domain' in match && isWildcard(match.domain) ? match.domain.length : 0)
const describe = (match: RuleMatch): string =>
  'from' in match ? `from ${match.from}` : 'domain' in match ? `domain ${match.domain}` : 'any'
