/** Messages of a project by sender domain in seven UTC days, today included: at most seven rows. */
import type { Database } from '#store/database.ts'
import { senderLetter, type Place } from '../../insights/count.ts'
import { senderDays } from '../../insights/levels.ts'
import { rowsOf } from '../../insights/rows.ts'

const days = 7

/** Start of the next UTC day: these counts change then, also without mail. */
export const nextDay = (now: number): number => now - (now % senderDays.ms) + senderDays.ms

/** Reads only domains that were not sending domains when their mail was accepted. */
export async function readSenders(database: Database, place: Place, now: number): Promise<ReadonlyMap<string, number>> {
  const to = nextDay(now)
  const messages = new Map<string, number>()
  for await (const { counts } of rowsOf(database, senderDays, place, { from: to - days * senderDays.ms, to }))
    for (const [name, count] of counts) {
      const domain = name.startsWith(senderLetter) ? name.slice(senderLetter.length) : ''
      if (domain !== '') messages.set(domain, (messages.get(domain) ?? 0) + count)
    }
  return messages
}
