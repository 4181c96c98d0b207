/** Timeline entries for acts on a queued message. */
import type { QueueActDone, QueueActName } from '../acts/act-record.ts'
import { whoAndWhy } from '../acts/queue-acts.ts'
import type { Trace } from '../trace.ts'
import type { TimelineEntry } from './send-timeline.ts'

const events = { hold: 'held', release: 'hold_released', expedite: 'expedited', drop: 'dropped' } as const satisfies Record<
  QueueActName,
  TimelineEntry['event']
>

const texts: Readonly<Record<QueueActName, (who: string) => string>> = {
  hold: (who) => `Held in the queue ${who}.`,
  release: (who) => `Released from its hold ${who}.`,
  expedite: (who) => `The next attempt was expedited ${who}.`,
  drop: (who) => `Dropped from the queue ${who}. Recipients that had not received it are canceled.`,
}

export const actEntries = ({ queueActs = [] }: Pick<Trace, 'queueActs'>): TimelineEntry[] => queueActs.map(actEntry)

function actEntry({ act, at, by, reason, actId, isLater }: QueueActDone): TimelineEntry {
  const later = isLater ? ' The attempt in flight ends first.' : ''
  const detail = { by, reason, act_id: actId, attempt_under_way: isLater === true }
  return { at, event: events[act], message: texts[act](whoAndWhy({ by, reason })) + later, detail }
}
