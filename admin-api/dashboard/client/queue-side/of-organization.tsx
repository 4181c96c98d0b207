/** Of whom the queue is, wherever the operator could take it for another one. */
import type { JSX } from 'preact'
import { SafeText } from '../parts/safe-text.tsx'
import { words } from '../queue/queue-words.ts'
import { words as allWords } from '../words/words.ts'
import { useSide } from './queue-side.ts'

/** The way to it; where it is the own one, it needs no name. */
export function QueueLink(): JSX.Element {
  const { queueLink, organizationName } = useSide()
  return <a href={queueLink()}>{organizationName === undefined ? allWords().queue : <SafeText text={organizationName} />}</a>
}

export function OfOrganization(): JSX.Element | null {
  const { organizationName } = useSide()
  if (organizationName === undefined) return null
  return (
    <p>
      <SafeText text={words().inQueueOf({ organization: organizationName })} />
    </p>
  )
}
