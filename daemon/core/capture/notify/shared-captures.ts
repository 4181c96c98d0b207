/** Captures of other daemons that share the store wake those who wait here. */
import type { Database } from '#store/database.ts'
import { captureOf, type Capture } from '../capture.ts'
import { traces } from '../../trace/trace.ts'
import type { CaptureEvents } from './capture-events.ts'

const capturedTopic = 'captured'

/** Has each daemon notified of the captures of all others. `onError` is notified when one cannot be read. */
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

/** As it was before its body was read. */
function withoutLater({ foundLater, ...capture }: Capture): Capture {
  const later = new Set(foundLater?.addresses)
  return { ...capture, addressesSeen: capture.addressesSeen.filter((address) => !later.has(address)) }
}
