/** Recipient domains of one project whose servers deferred mail within the last hour. */
import type { Database } from '#store/database.ts'
import { recipientNames, type Place } from '../../insights/count.ts'
import { levels, ofDomains } from '../../insights/levels.ts'
import { partsOf, rowsOf, type RolledTo } from '../../insights/rows.ts'
import type { Periods } from './steps.ts'

/** Returns the domains, most deferred recipients first. Reads one row for each minute or quarter of an hour. */
export async function readDeferred(
  database: Database,
  place: Place,
  { hour }: Pick<Periods, 'hour'>,
  now: number,
  rolled: RolledTo,
): Promise<readonly string[]> {
  const deferred = new Map<string, number>()
  for (const { level, ...span } of partsOf(levels[1], { from: hour, to: now + 1 }, rolled))
    for await (const { counts } of rowsOf(database, level, place, span, (subject) => subject === ofDomains, 'shown'))
      for (const [name, times] of counts) {
        const domain = name.startsWith(recipientNames.deferred) ? name.slice(1) : ''
        if (domain !== '') deferred.set(domain, (deferred.get(domain) ?? 0) + times)
      }
  return [...deferred].toSorted(([a, some], [b, more]) => more - some || (a < b ? -1 : 1)).map(([domain]) => domain)
}
