/** Why a message went where it went, in the chosen language: made from the codes of the service, never from its sentences. */
import { useRead } from '../app/query.ts'
import { plain } from '../parts/safe-text.tsx'
import { getDestination, getRoutingRule, type RoutingRule, type RoutingSimulation, type Trace } from '../wire/operations.ts'
import { words } from './reasons-words.ts'

type Route = Pick<Trace['route'], 'by' | 'environment'>

/** Undefined for a way that is not known here. */
function routeReason({ by, environment }: Route, destination: string, rule: string): string | undefined {
  const w = words()
  const inEnvironment = environment !== null
  const sentences: Readonly<Record<string, () => string>> = {
    request: () => (inEnvironment ? w.requestEnvironment(environment, destination) : w.request(destination)),
    credential: () => (inEnvironment ? w.credentialEnvironment(environment, destination) : w.credential(destination)),
    rule: () => (inEnvironment ? w.ruleEnvironment(rule, environment, destination) : w.rule(rule, destination)),
    project: () => w.project(environment ?? '–', destination),
    org_default: () => w.orgDefault(destination),
    none: () => w.none,
  }
  return Object.hasOwn(sentences, by) ? sentences[by]?.() : undefined
}

interface Outcome {
  readonly outcome: string | null
  readonly outcome_cause?: Trace['outcome_cause']
}

/** Undefined for a refusal, which says by itself what is wrong. */
export function outcomeReason({ outcome, outcome_cause: cause = null }: Outcome, destination: string): string | undefined {
  const w = words()
  if (outcome === 'captured.anonymous_project') return w.anonymous
  if (cause !== null) return cause === 'proof' ? w.proof(destination) : w[cause]
  if (outcome === 'captured.sandbox_destination') return w.sandbox(destination)
  if (outcome === 'captured.no_route') return w.noRoute
  return outcome === 'relayed' ? w.live(destination) : undefined
}

export interface Reasons {
  /** What the destination is called now. */
  readonly destination: string | undefined
  readonly route: string | undefined
  readonly outcome: string | undefined
}

/** Reads what the codes name; `destinationId` is where the route led. */
export function useReasons(trace: Trace, destinationId: string | null = trace.destination_id): Reasons {
  const { route } = trace
  const destination = useRead(getDestination, destinationId === null ? undefined : { path: { id: destinationId } })
  const rule = useRead(getRoutingRule, route.rule_id === null ? undefined : { path: { id: route.rule_id } })
  const name = destination.data && plain(destination.data.name)
  const called = name ?? destinationId ?? words().someDestination
  return {
    destination: name,
    route:
      trace.outcome === 'refused' ? words().notRouted : routeReason(route, called, rule.data ? ruleName(rule.data) : (route.rule_id ?? '')),
    outcome: outcomeReason(trace, called),
  }
}

type Step = RoutingSimulation['steps'][number]

/** Undefined where the step says more than its codes, such as how much of a limit is used. */
export function stepReason(
  { step, result, rule_id: ruleId }: Step,
  simulation: RoutingSimulation,
  rules: readonly RoutingRule[],
): string | undefined {
  const w = words()
  const destination = plain(simulation.destination?.name ?? w.someDestination)
  const found = rules.find(({ id }) => id === ruleId)
  const rule = found ? ruleName(found) : (ruleId ?? '')
  if (result === 'decided') return outcomeReason(simulation, destination)
  if (step === 'rule' && result === 'not_matched') return w.ruleNot(rule)
  if (step === 'rule' && result === 'destination_gone') return w.ruleGone(rule)
  if (result === 'matched') return simulation.route ? routeReason(simulation.route, destination, rule) : undefined
  if (step === 'org_default') return w.noDefault
  if (step === 'project_status' && result === 'passed') return w.claimed
  if (step === 'suppressions' && result === 'passed') return w.noneSuppressed
  return step === 'failover' && result === 'passed' ? w.takesMail(destination) : undefined
}

function ruleName({ match, priority }: RoutingRule): string {
  const w = words()
  const about = 'from' in match ? match.from : 'domain' in match ? match.domain : w.anyMail
  return `${plain(about)} (${w.priority(priority)})`
}
