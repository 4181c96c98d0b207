/** Messages of a project by sender domain in UTC days, today included: at most seven rows. */
import type { Database } from '#store/database.ts'
import { senderLetters, type Place } from '../../insights/count.ts'
import { senderDays } from '../../insights/levels.ts'
import { rowsOf } from '../../insights/rows.ts'

const days = 7

/** Start of the next UTC day: these counts change then, also without mail. */
export const nextDay = (now: number): number => now - (now % senderDays.ms) + senderDays.ms

/** Reads only domains that were not sending domains when their mail was accepted. */
export const readSenders = (database: Database, place: Place, now: number): Promise<ReadonlyMap<string, number>> =>
  readDays(database, place, now, days, [senderLetters.unknown])

/** Reads the domains of messages that matched no routing rule, today and yesterday, most messages first. */
export async function readUnrouted(database: Database, place: Place, now: number): Promise<readonly string[]> {
  const messages = await readDays(database, place, now, 2, [senderLetters.captured, senderLetters.refused])
  return [...messages].toSorted(([a, some], [b, more]) => more - some || (a < b ? -1 : 1)).map(([domain]) => domain)
}

async function readDays(
  database: Database,
  place: Place,
  now: number,
  many: number,
  letters: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const to = nextDay(now)
  const messages = new Map<string, number>()
  for await (const { counts } of rowsOf(database, senderDays, place, { from: to - many * senderDays.ms, to }))
    for (const [name, count] of counts) {
      const domain = letters.includes(name.charAt(0)) ? name.slice(1) : ''
      if (domain !== '') messages.set(domain, (messages.get(domain) ?? 0) + count)
    }
  return messages
}
