/** Condition of sender domains that were never added as sending domains. Pure. */
import { parseDomain } from '../../addresses.ts'
import type { Project } from '../../tenancy/organization.ts'
import { observedAs, type Condition } from '../condition.ts'

/** Messages of one domain within seven days. */
const enough = 10
/** Maximum number of findings of a project, for the domains with most messages. */
const maxFound = 20

/** `isCovered`: the domain is added, or has a finding of another project. */
export const senderConditions = (
  { id, name }: Pick<Project, 'id' | 'name'>,
  messages: ReadonlyMap<string, number>,
  isCovered: (domain: string) => boolean,
): readonly Condition[] =>
  [...messages]
    .filter(([domain, count]) => count >= enough && canBeAdded(domain) && !isCovered(domain))
    .toSorted(([a, some], [b, more]) => more - some || (a < b ? -1 : 1))
    .slice(0, maxFound)
    .map(([domain, count]) => observedAs(undefined, 'domain.unknown', domain, { domain, project: name, count }, id))

/** A From field can have an address literal, or a name without a dot. */
const canBeAdded = (domain: string): boolean => domain.includes('.') && parseDomain(domain) === domain
