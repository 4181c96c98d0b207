/** References to a destination, which prevent its deletion. */
import { Refusal } from '../../refusals.ts'
import type { Policy } from './policy.ts'

/** Throws `conflict` with the list of references to the destination. `ofOthers` restricts the check to other projects. */
export function refuseWhileNamed(
  { rules, credentials, failovers }: Policy,
  destinationId: string,
  ofOthers?: { readonly than: ReadonlySet<string> },
): void {
  const counts = ({ projectId }: { readonly projectId: string }): boolean => !ofOthers?.than.has(projectId)
  const naming = [...rules.values()].flat().filter((rule) => rule.destinationId === destinationId && counts(rule))
  const sending = [...credentials.values()].filter((one) => one.defaultDestinationId === destinationId && counts(one))
  const chains = failovers.naming(destinationId).filter(counts)
  if (naming.length + sending.length + chains.length === 0) return
  const named = [
    ...counted(naming.length, 'routing rule'),
    ...counted(sending.length, 'SMTP credential'),
    ...counted(chains.length, 'failover policy', 'failover policies'),
  ].join(' and ')
  const whose = ofOthers ? ' of other projects' : ''
  throw new Refusal('conflict', `The destination is in use by ${named}${whose}. Update or delete these references first.`, {
    nextAction: 'remove_references',
    details: {
      routing_rule_ids: naming.map(({ id }) => id),
      smtp_credential_ids: sending.map(({ id }) => id),
      failover_policy_ids: chains.map(({ id }) => id),
    },
  })
}

/** Returns the ids of all destinations that `refuseWhileNamed` refuses. */
export function namedDestinations({ rules, credentials, failovers }: Policy): ReadonlySet<string> {
  const ids = [
    ...[...rules.values()].flat().map(({ destinationId }) => destinationId),
    ...[...credentials.values()].map(({ defaultDestinationId }) => defaultDestinationId),
    ...failovers.all.flatMap(({ primaryId, fallbackIds }) => [primaryId, ...fallbackIds]),
  ]
  return new Set(ids.filter((id) => id != null))
}

const counted = (count: number, one: string, many = `${one}s`): string[] => (count === 0 ? [] : [`${count} ${count === 1 ? one : many}`])
