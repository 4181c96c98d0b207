/** Releases what one act holds: the way back from a hold. */
import { call } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { asFault } from '../app/query.ts'
import { toast } from '../parts/toast.tsx'
import { createQueueAct } from '../wire/operations.ts'
import { givenOf } from './filter.ts'
import { words } from './queue-words.ts'

export async function releaseHeldBy(actId: string): Promise<void> {
  try {
    const found = await call(createQueueAct, { body: { act: 'release', filter: { held_by: actId }, dry_run: true } })
    const body = { act: 'release', filter: givenOf(found.filter), expected: found.matched ?? 0 } as const
    const { id } = await call(createQueueAct, { body })
    toast(words().undone)
    go(link(`/queue/acts/${id ?? ''}`))
  } catch (error) {
    toast(asFault(error).message)
  }
}
