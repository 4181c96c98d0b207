/** Explains routing and results of a message in the current language. Uses the codes of the service, not its texts. */
import { useRead } from '../app/query.ts'
import { plain } from '../parts/safe-text.tsx'
import { bytes, number } from '../parts/time.ts'
import type { RoutingRule, RoutingSimulation, Trace } from '../wire/api.d.ts'
import { texts } from './reasons-texts.ts'

type Route = Pick<Trace['route'], 'by' | 'environment'>

/** Returns undefined for an unknown kind of route. */
function routeReason({ by, environment }: Route, destination: string, rule: string): string | undefined {
  const w = texts()
  const inEnvironment = environment !== null
  const sentences: Readonly<Record<string, () => string>> = {
    request: () => (inEnvironment ? w.requestEnvironment({ environment, destination }) : w.request({ destination })),
    credential: () => (inEnvironment ? w.credentialEnvironment({ environment, destination }) : w.credential({ destination })),
    rule: () => (inEnvironment ? w.ruleEnvironment({ rule, environment, destination }) : w.rule({ rule, destination })),
    project: () => w.project({ environment: environment ?? '–', destination }),
    org_default: () => w.orgDefault({ destination }),
    none: () => w.none,
  }
  return Object.hasOwn(sentences, by) ? sentences[by]?.() : undefined
}

interface Outcome {
  readonly outcome: string | null
  readonly outcome_cause?: Trace['outcome_cause']
}

/** Returns undefined for a refusal; see `refusalReason`. */
export function outcomeReason({ outcome, outcome_cause: cause = null }: Outcome, destination: string): string | undefined {
  const w = texts()
  if (outcome === 'captured.anonymous_project') return w.anonymous
  if (cause !== null) return cause === 'proof' ? w.proof({ destination }) : w[cause]
  if (outcome === 'captured.sandbox_destination') return w.sandbox({ destination })
  if (outcome === 'captured.no_route') return w.noRoute
  return outcome === 'relayed' ? w.live({ destination }) : undefined
}

export interface Reasons {
  /** Current name of the destination. */
  readonly destination: string | undefined
  readonly route: string | undefined
  readonly outcome: string | undefined
}

/** Reads the names of the destination and the rule. `destinationId` is the destination of the route. */
export function useReasons(trace: Trace, destinationId: string | null = trace.destination_id): Reasons {
  const { route } = trace
  const destination = useRead('/v1/destinations/{id}', destinationId === null ? undefined : { path: { id: destinationId } })
  const rule = useRead('/v1/routing/rules/{id}', route.rule_id === null ? undefined : { path: { id: route.rule_id } })
  const name = destination.data && plain(destination.data.name)
  const called = name ?? destinationId ?? texts().someDestination
  return {
    destination: name,
    route:
      trace.outcome === 'refused' ? texts().notRouted : routeReason(route, called, rule.data ? ruleName(rule.data) : (route.rule_id ?? '')),
    outcome: outcomeReason(trace, called),
  }
}

type Step = RoutingSimulation['steps'][number]

/** Returns undefined for an unknown code. */
export function refusalReason(code: string | null, used: number | null = null, limit: number | null = null): string | undefined {
  const w = texts()
  const isCounted = used !== null && limit !== null
  const said = code === 'validation_failed' && isCounted ? w.tooMany : textOf(w.refusals, code)
  if (said === undefined || !isCounted) return said && `${said}.`
  const show = code === 'request_too_large' ? bytes : number
  return `${said} (${w.usedOf({ used: show(used), limit: show(limit) })}).`
}

/** Returns the text of a code, or undefined. */
const textOf = (known: Readonly<Record<string, string>>, code: string | null): string | undefined =>
  code !== null && Object.hasOwn(known, code) ? known[code] : undefined

/** Explains a failover and names the next destination. Undefined for an unknown cause. */
export function failoverReason(cause: string | null, destination: string): string | undefined {
  const why = textOf(texts().causes, cause)
  return why && `${why} ${texts().goesOn({ destination })}`
}

/** Rules and destination names for the explanation of a step. */
export interface Known {
  readonly rules: readonly RoutingRule[]
  readonly destinations: ReadonlyMap<string, string>
}

/** Returns undefined for a step with unknown codes. */
export function stepReason(one: Step, simulation: RoutingSimulation, { rules, destinations }: Known): string | undefined {
  const w = texts()
  const { step, result, rule_id: ruleId, destination_id: destinationId } = one
  const destination = plain(simulation.destination?.name ?? w.someDestination)
  const found = rules.find(({ id }) => id === ruleId)
  const rule = found ? ruleName(found) : (ruleId ?? '')
  if (result === 'refused') return refusalReason(one.code, one.used, one.limit)
  if (result === 'decided') return outcomeReason(simulation, destination)
  if (step === 'rule' && result === 'not_matched') return w.ruleNot({ rule })
  if (step === 'rule' && result === 'destination_gone') return w.ruleGone({ rule })
  if (result === 'matched') return simulation.route ? routeReason(simulation.route, destination, rule) : undefined
  if (step === 'org_default') return w.noDefault
  if (step === 'failover') return failoverStep(one, plain(destinations.get(destinationId ?? '') ?? destination))
  if (result === 'withheld') return suppressionReason(one)
  return passedReason(one)
}

const passedReason = ({ step, code, used, limit, address }: Step): string | undefined => {
  const w = texts()
  const sentences: Partial<Record<Step['step'], () => string | undefined>> = {
    project_status: () => w.claimed,
    suppressions: () => w.noneSuppressed,
    smtp_credential: () => w.loginFits,
    named_destination: () => w.notRecorded,
    sender: () => (address === null ? undefined : w.senderOf({ address })),
    limits: () => (used === null || limit === null ? w.noLimit : limitReason(code, used, limit)),
  }
  return sentences[step]?.()
}

function limitReason(code: string | null, used: number, limit: number): string | undefined {
  const what = textOf(texts().limits, code)
  return what && `${what}: ${texts().usedOf({ used: number(used), limit: number(limit) })}.`
}

function suppressionReason({ code, address }: Step): string | undefined {
  const why = textOf(texts().sources, code)
  return why && texts().suppressed({ address: address ?? '', why })
}

function failoverStep({ result, code, wait_seconds: seconds }: Step, destination: string): string | undefined {
  const w = texts()
  if (result === 'passed') return w.takesMail({ destination })
  return seconds === null ? failoverReason(code, destination) : w.waits({ destination, seconds: number(seconds) })
}

function ruleName({ match, priority }: RoutingRule): string {
  const w = texts()
  const about = 'from' in match ? match.from : 'domain' in match ? match.domain : w.anyMail
  return `${plain(about)} (${w.priority({ priority })})`
}
