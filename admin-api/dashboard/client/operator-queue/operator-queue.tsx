/** Queue screens of the operator: organizations with queued mail, a search for others, and the queue of an organization. */
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { link, query } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { SafeText } from '../parts/safe-text.tsx'
import { QueueScreens } from '../queue/queue.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { organizationQueue } from './organization-queue.ts'
import { QueueList } from './queue-list.tsx'

interface OperatorQueueProps extends ScreenProps {
  readonly areas: JSX.Element
}

export default function OperatorQueue({ rest, areas }: OperatorQueueProps): JSX.Element {
  const organization = query.value.get('organization') ?? ''
  return organization === '' ? <QueueList areas={areas} /> : <OfOne key={organization} organization={organization} rest={rest} />
}

function OfOne({ organization, rest }: ScreenProps & { readonly organization: string }): JSX.Element {
  const { data } = useRead('/operator/v1/organizations/{id}', { path: { id: organization } })
  const name = data?.name ?? organization
  const side = useMemo(() => organizationQueue(organization, name), [organization, name])
  const heading = (
    <>
      <a href={link('/operator/queue')}>{allTexts().queue}</a>
      <span class="cut">
        <SafeText text={name} />
      </span>
    </>
  )
  return <QueueScreens side={side} rest={rest} heading={heading} />
}
