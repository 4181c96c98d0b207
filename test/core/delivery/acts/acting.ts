/** Helpers for tests of queue acts: a complete act, the states of the queue, and a steered attempt. */
import type { ActRequest } from '#core/delivery/acts/queue-acts.ts'
import type { QueueAct } from '#core/delivery/acts/queue-act.ts'
import { principal, type CoreFixture } from '../../core-fixture.ts'
import { report, type Call, type Script } from '../../scripted-transport.ts'

/** Counts, runs an act with that count, and waits for its end. */
export async function act(fixture: CoreFixture, request: ActRequest): Promise<QueueAct> {
  return ended(fixture, await begun(fixture, request))
}

/** Counts, and starts an act with that count. */
export async function begun(fixture: CoreFixture, request: ActRequest): Promise<QueueAct> {
  const { queueActs } = fixture.core
  fixture.clock.advance(1)
  const { filter, matched } = await queueActs.preview({ principal }, request)
  return queueActs.create({ principal }, { ...request, filter, expected: matched })
}

export async function ended(fixture: CoreFixture, { id }: QueueAct): Promise<QueueAct> {
  await fixture.settled()
  return fixture.core.queueActs.get(principal, id)
}

export const states = async (fixture: CoreFixture): Promise<string[]> =>
  (await fixture.core.queueActs.waiting(principal, { limit: 100 })).rows.map(({ state }) => state)

/** Runs `meanwhile` before the first write of an act that counts a message. The write then continues. */
export function beforeFirstMessage(fixture: CoreFixture, meanwhile: () => Promise<void>): void {
  fixture.kv.beforeWrite = ({ adds }) => {
    if (!adds.some(({ key }) => Buffer.from(key).includes('queue.act'))) return undefined
    fixture.kv.beforeWrite = undefined
    return meanwhile()
  }
}

/** An attempt whose final dot and outcome the test controls. */
export function steered() {
  const [began, mayDot, dotted, mayEnd] = [0, 1, 2, 3].map(() => Promise.withResolvers<void>())
  if (!began || !mayDot || !dotted || !mayEnd) throw new Error('no promises')
  const steps: string[] = []
  const script: Script = async (call: Call) => {
    began.resolve()
    await mayDot.promise
    await call.job.beforeFinalDot()
    steps.push('final dot')
    dotted.resolve()
    await mayEnd.promise
    return report(call, 'transient')
  }
  return { began, mayDot, dotted, mayEnd, steps, script }
}
