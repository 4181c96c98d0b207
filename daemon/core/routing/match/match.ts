/** Selects the destination of a message, with a reason. Pure; the caller supplies the settings. */
import { isOpenTo, requireEnvironment } from '../../access/principal/project-choice.ts'
import { foldAddress, parseDomain } from '../../addresses.ts'
import { Refusal } from '../../refusals.ts'
import type { Destination } from '../destination.ts'
import { pack } from '#store/tuple.ts'
import { chooseInEnvironment, describeChoice, type DestinationHealth } from './environment.ts'
import type { RoutingRule, RuleMatch } from '../rule.ts'

/** Result of routing. `reason` is a sentence for the trace. */
export interface Route {
  readonly by: 'request' | 'credential' | 'rule' | 'project' | 'org_default' | 'none'
  readonly destination: Destination | undefined
  readonly ruleId: string | null
  /** Environment that determined the destination. */
  readonly environment?: string | undefined
  readonly reason: string
}

export interface RoutingSettings {
  readonly destinations: ReadonlyMap<string, Destination>
  readonly rules: ReadonlyMap<string, readonly RoutingRule[]>
  readonly orgDefault?: Destination | undefined
  readonly projects?: ReadonlyMap<string, { readonly environment?: string | null | undefined }> | undefined
}

export interface RouteQuestion {
  readonly projectId: string
  /** Sender address for the rules: header From, or MAIL FROM if the header is invalid. */
  readonly from: string
  /** Destination or environment named by the request or the SMTP credential. */
  readonly asked?: Asked | undefined
}

type Asked = { readonly by: 'request' | 'credential' } & ({ readonly destinationId: string } | { readonly environment: string })

/** Evaluation of a rule. The first matching rule decides; later rules are not evaluated. */
export interface RuleLook {
  readonly rule: RoutingRule
  readonly found: 'matched' | 'not_matched' | 'destination_gone'
  /** A sentence for people. */
  readonly message: string
  /** Current target of the rule. */
  readonly destination: Destination | undefined
}

/** Smaller priority first; among equal priorities the more specific rule, then the older one. */
export const rankOf = ({ priority, match, createdAt, id }: RoutingRule) => [priority, breadth(match), -depth(match), createdAt, id] as const

/** Sorts rules in the order of evaluation. */
export const orderRules = (rules: readonly RoutingRule[]): RoutingRule[] => {
  const ranked = rules.map((rule) => ({ rule, rank: pack(rankOf(rule)) }))
  return ranked.toSorted((a, b) => Buffer.compare(a.rank, b.rank)).map(({ rule }) => rule)
}

/**
 * Returns the named destination, else the first matching rule of the project, else the project's environment, else the organization's
 * default sender. Calls `look` for every evaluated rule. Throws `destination_misconfigured` or `validation_failed` if the project cannot
 * use the named destination or environment.
 */
export function matchRoute(
  settings: RoutingSettings,
  question: RouteQuestion,
  health: DestinationHealth,
  look: (seen: RuleLook) => void = () => {},
): Route {
  const { asked, projectId } = question
  if (asked) return askedRoute(settings, projectId, asked, health)
  const sender = senderOf(question.from)
  for (const rule of settings.rules.get(projectId) ?? []) {
    const seen = lookAt(rule, settings, projectId, sender, health)
    look(seen)
    if (seen.found !== 'matched') continue
    return { by: 'rule', destination: seen.destination, ruleId: rule.id, environment: rule.environment, reason: seen.message }
  }
  const noRule = `No routing rule of the project matches ${question.from || 'the message'}`
  const environment = settings.projects?.get(projectId)?.environment ?? undefined
  const choice = environment === undefined ? undefined : chooseInEnvironment(settings.destinations, projectId, environment, health)
  if (choice && environment !== undefined) {
    const reason = `${noRule}. ${describeChoice('The project', environment, choice)}`
    return { by: 'project', destination: choice.destination, ruleId: null, environment, reason }
  }
  const nothing = environment === undefined ? noRule : `${noRule}, and no destination has the environment of the project`
  if (settings.orgDefault) {
    const { name } = settings.orgDefault
    const reason = `${nothing}; it goes to the organization default sender, the destination ${name}.`
    return { by: 'org_default', destination: settings.orgDefault, ruleId: null, reason }
  }
  return { by: 'none', destination: undefined, ruleId: null, reason: `${nothing}.` }
}

function askedRoute({ destinations }: RoutingSettings, projectId: string, asked: Asked, health: DestinationHealth): Route {
  const who = asked.by === 'request' ? 'The request' : 'The SMTP credential'
  if ('environment' in asked) {
    const { by, environment } = asked
    const choice = chooseInEnvironment(destinations, projectId, environment, health)
    if (!choice && by === 'request') requireEnvironment(destinations, projectId, environment)
    if (!choice) throw misconfigured('environment')
    return { by, destination: choice.destination, ruleId: null, environment, reason: describeChoice(who, environment, choice) }
  }
  const destination = destinations.get(asked.destinationId)
  if (!destination || !isOpenTo(destination, projectId)) throw missingDestination(asked)
  return { by: asked.by, destination, ruleId: null, reason: `${who} selects the destination ${destination.name}.` }
}

function lookAt(
  rule: RoutingRule,
  { destinations }: RoutingSettings,
  projectId: string,
  sender: Sender,
  health: DestinationHealth,
): RuleLook {
  const about = `Rule ${describe(rule.match)} (priority ${rule.priority})`
  const { environment } = rule
  if (!matches(rule.match, sender)) {
    const destination = destinations.get(rule.destinationId ?? '')
    return { rule, found: 'not_matched', message: `${about} does not match.`, destination }
  }
  if (environment !== undefined) {
    const choice = chooseInEnvironment(destinations, projectId, environment, health)
    if (choice) return { rule, found: 'matched', message: describeChoice(about, environment, choice), destination: choice.destination }
    const message = `${about} matches, but no destination has its environment ${environment}.`
    return { rule, found: 'destination_gone', message, destination: undefined }
  }
  const destination = destinations.get(rule.destinationId ?? '')
  if (!destination || !isOpenTo(destination, projectId))
    return { rule, found: 'destination_gone', message: `${about} matches, but its destination no longer exists.`, destination }
  return { rule, found: 'matched', message: `${about} selects the destination ${destination.name}.`, destination }
}

const misconfigured = (what: 'default destination' | 'environment'): Refusal =>
  new Refusal(
    'destination_misconfigured',
    what === 'environment'
      ? 'No destination has the environment of this SMTP credential. Set another environment.'
      : 'The default destination of this SMTP credential no longer exists; set another one.',
    { nextAction: 'update_smtp_credential' },
  )

function missingDestination(asked: { readonly by: 'request' | 'credential' }): Refusal {
  if (asked.by === 'credential') return misconfigured('default destination')
  return new Refusal('validation_failed', 'destination_id: no destination of this project has this id', {
    details: { fields: [{ path: 'destination_id', message: 'no destination of this project has this id' }] },
  })
}

interface Sender {
  readonly address: string
  readonly domain: string
}

/** Normalizes the address like stored rules: lower case, domain in A-labels. */
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

/** `*.b.ch` matches every domain that ends in `.b.ch`, but not `b.ch`. */
const isWildcard = (domain: string): boolean => domain.startsWith('*.')
const breadth = (match: RuleMatch): number => ('from' in match ? 0 : 'any' in match ? 3 : isWildcard(match.domain) ? 2 : 1)
/** Of two wildcards that match the same sender, the longer one is more specific. */
const depth = (match: RuleMatch): number => ('domain' in match && isWildcard(match.domain) ? match.domain.length : 0)
const describe = (match: RuleMatch): string =>
  'from' in match ? `from ${match.from}` : 'domain' in match ? `domain ${match.domain}` : 'any'
