/** Releases the messages held by a queue action, to undo a hold. */
import { go } from '../app/location.ts'
import { showFault } from '../app/query.ts'
import { toast } from '../parts/toast.tsx'
import { answer, type QueueSide } from '../queue-side/queue-side.ts'
import { givenOf } from './filter.ts'
import { texts } from './queue-texts.ts'

export async function releaseHeldBy(side: QueueSide, actId: string): Promise<void> {
  try {
    const found = await answer(side.act({ act: 'release', filter: { held_by: actId }, dry_run: true }))
    const body = { act: 'release', filter: givenOf(found.filter), expected: found.matched ?? 0 } as const
    const { id } = await answer(side.act(body))
    toast(texts().undone)
    go(side.actsLink(id ?? ''))
  } catch (error) {
    showFault(error)
  }
}
