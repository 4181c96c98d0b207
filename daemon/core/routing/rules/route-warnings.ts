/** Warnings about a rule or failover policy without effect. Pure. */
import type { Destination } from '../destination.ts'
import type { FailoverPolicy } from '../failover-policy.ts'
import { orderRules } from '../match/match.ts'
import type { Policy } from '../policy/policy.ts'
import type { RoutingRule, RuleMatch } from '../rule.ts'

/** A setting without effect, with the next step. */
export interface RouteWarning {
  readonly code: string
  readonly step: string
  readonly message: string
}

/** `policy` may contain an earlier version of the rule. */
export function ruleWarnings({ rules, destinations }: Policy, rule: RoutingRule): readonly RouteWarning[] {
  const others = (rules.get(rule.projectId) ?? []).filter(({ id }) => id !== rule.id)
  for (const other of orderRules([...others, rule])) {
    if (other.id === rule.id) return []
    const leads = other.environment !== undefined || destinations.has(other.destinationId ?? '')
    if (!leads || !takesAll(other.match, rule.match)) continue
    const message =
      `Rule ${other.id} (priority ${other.priority}) is tried first and matches all mail that this rule (priority ${rule.priority}) matches. ` +
      'Give this rule a smaller priority, or delete the other one.'
    return [{ code: 'rule_unreachable', step: 'routing', message }]
  }
  return []
}

export function failoverWarnings({ destinations }: Policy, { primaryId, fallbackIds }: FailoverPolicy): readonly RouteWarning[] {
  const primary = destinations.get(primaryId)
  const captured = isSandbox(primary)
    ? [
        sandboxWarning(
          'primary_in_sandbox',
          `Messages to ${primary.name} are captured, so no fallback takes over. Promote ${primary.name} to live.`,
        ),
      ]
    : []
  return [
    ...captured,
    ...fallbackIds.flatMap((id) => {
      const fallback = destinations.get(id)
      return isSandbox(fallback) ? [skipped(fallback, primary)] : []
    }),
  ]
}

/** Returns warnings about a destination that changes to sandbox mode. */
export function sandboxWarnings({ destinations, failovers }: Policy, destination: Destination): readonly RouteWarning[] {
  const named = failovers.naming(destination.id).filter(({ primaryId }) => primaryId !== destination.id)
  return named.map(({ primaryId }) => skipped(destination, destinations.get(primaryId)))
}

const isSandbox = (destination: Destination | undefined): destination is Destination => destination?.mode === 'sandbox'

const skipped = ({ name }: Destination, primary: Destination | undefined): RouteWarning =>
  sandboxWarning(
    'fallback_in_sandbox',
    `${name} is in sandbox mode and is skipped when ${primary?.name ?? 'its primary destination'} fails. Promote ${name} to live.`,
  )

const sandboxWarning = (code: string, message: string): RouteWarning => ({ code, step: 'failover', message })

/** Returns true if `wide` matches every sender that `narrow` matches. */
function takesAll(wide: RuleMatch, narrow: RuleMatch): boolean {
  if ('any' in wide) return true
  if ('any' in narrow) return false
  if ('from' in wide) return 'from' in narrow && narrow.from === wide.from
  const domain = 'from' in narrow ? narrow.from.slice(narrow.from.lastIndexOf('@') + 1) : narrow.domain
  return (
    domain === wide.domain ||
    (wide.domain.startsWith('*.') && domain.replace(/^\*/, '').endsWith(wide.domain.slice(1)) && domain !== wide.domain.slice(2))
  )
}
