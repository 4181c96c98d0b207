/** Names the organization of a queue, so that the operator cannot confuse it with another. */
import type { JSX } from 'preact'
import { SafeText } from '../parts/safe-text.tsx'
import { texts } from '../queue/queue-texts.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { useSide } from './queue-side.ts'

/** Link to the queue. The user's own queue needs no name. */
export function QueueLink(): JSX.Element {
  const { queueLink, organizationName } = useSide()
  return <a href={queueLink()}>{organizationName === undefined ? allTexts().queue : <SafeText text={organizationName} />}</a>
}

export function OfOrganization(): JSX.Element | null {
  const { organizationName } = useSide()
  if (organizationName === undefined) return null
  return (
    <p>
      <SafeText text={texts().inQueueOf({ organization: organizationName })} />
    </p>
  )
}
