/** Shares capture events between daemons with a common store. */
import type { Database } from '#store/database.ts'
import { captureOf, type Capture } from '../capture.ts'
import { traces } from '../../trace/trace.ts'
import type { CaptureEvents } from './capture-events.ts'

const capturedTopic = 'captured'

/** Publishes and receives capture events. `onError` receives read failures. */
export function shareCaptures(database: Database, events: CaptureEvents, onError: (error: unknown) => void): void {
  const { daemons } = database
  if (daemons.isAlone) return
  events.onOwn((capture, before) => daemons.publish(capturedTopic, [`${capture.projectId} ${capture.traceId}${before ? ' again' : ''}`]))
  daemons.subscribe(capturedTopic, (items) => {
    for (const item of items) {
      const [projectId = '', traceId = '', again] = item.split(' ')
      if (events.waiting(projectId) > 0) ringFor(database, events, traceId, again !== undefined).catch(onError)
    }
  })
}

async function ringFor(database: Database, events: CaptureEvents, traceId: string, isAgain: boolean): Promise<void> {
  const stored = await database.lookup(traces, 'id', [traceId])
  const capture = stored && captureOf(stored.record)
  if (capture) events.ring(capture, isAgain ? withoutLater(capture) : undefined)
}

/** Returns the capture without the addresses of its body. */
function withoutLater({ foundLater, ...capture }: Capture): Capture {
  const later = new Set(foundLater?.addresses)
  return { ...capture, addressesSeen: capture.addressesSeen.filter((address) => !later.has(address)) }
}
