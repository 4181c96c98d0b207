/** Destinations that each have a sender of their own, and what was sent through them. */
import type { CoreFixture } from './core-fixture.ts'

/** A destination with a rule that sends a From of its own there. */
export async function queue(fixture: CoreFixture, id: string, changes: object = {}): Promise<string> {
  await fixture.destination({ id, ...changes })
  await fixture.rule({ from: `${id}@example.com` }, id)
  return id
}

export const submitTo = (fixture: CoreFixture, id: string, recipient = 'anna@example.net') =>
  fixture.submit({ facts: { headerFrom: `${id}@example.com` } as never, rcptTo: [recipient] })

export const sent = (fixture: CoreFixture): number => fixture.attempted.filter(({ trace }) => trace.status === 'sent').length
