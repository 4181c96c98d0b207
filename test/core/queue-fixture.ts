/** Destinations with separate senders, and their sent messages. */
import type { CoreFixture } from './core-fixture.ts'

/** Creates a destination with a rule for its own From. */
export async function queue(fixture: CoreFixture, id: string, changes: object = {}): Promise<string> {
  await fixture.destination({ id, ...changes })
  await fixture.rule({ from: `${id}@example.com` }, id)
  return id
}

export const submitTo = (fixture: CoreFixture, id: string, recipient = 'anna@example.net') =>
  fixture.submit({ facts: { headerFrom: `${id}@example.com` } as never, rcptTo: [recipient] })

export const sent = (fixture: CoreFixture): number => fixture.attempted.filter(({ trace }) => trace.status === 'sent').length
